drop table database_login;
