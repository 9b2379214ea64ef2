create or replace function lower_text(p_text text)
returns text
language plpgsql
immutable
strict
set search_path from current
as $$
begin
    -- a branch that is not taken may name a collation that is not there
    case
        when octet_length(p_text) = length(p_text) then
            return lower(p_text collate "C");
        when to_regcollation('pg_catalog.pg_c_utf8') is not null then
            return lower(p_text collate pg_catalog.pg_c_utf8);
        when to_regcollation('pg_catalog."und-x-icu"') is not null then
            return lower(p_text collate pg_catalog."und-x-icu");
        else
            return lower(p_text collate pg_catalog."C.utf8");
    end case;
end;
$$;

comment on function lower_text is
'A text in lower case as Unicode has it, whatever the locale of the database: by pg_c_utf8 (PostgreSQL 17 and later), else by ICU, else by the C library.';
