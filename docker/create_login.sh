#!/bin/sh
# Run once by the database container: the login of the server, which owns nothing and is a member of the role that
# row-level security binds.
set -eu

psql --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" \
    --set login="$SERVER_LOGIN" --set password="$SERVER_PASSWORD" <<'SQL'
create role pgcontext_server nologin;
create role :"login" login password :'password';
grant pgcontext_server to :"login";
SQL
