-- The trigrams of every text, by which grep_context finds the entries that can hold a match.
-- depends: 0001.entries

-- The extension may stand in any schema already, so its operator class is named where it is found.
do $$
declare
    v_schema name;
begin
    select n.nspname into strict v_schema
    from pg_catalog.pg_extension as x
    inner join pg_catalog.pg_namespace as n on n.oid = x.extnamespace
    where x.extname = 'pg_trgm';
    -- the expression of folded_content()
    execute format(
        $index$
        create index entry_trigram_idx on entry using gin ((
            case
                when octet_length(text_content) = length(text_content) then lower(text_content collate "C")
                else
                    replace(replace(replace(replace(
                        lower(text_content collate "C"),
                        e'\u0130', 'i'), e'\u0131', 'i'), e'\u017f', 's'), e'\u212a', 'k')
            end
        ) %I.gin_trgm_ops)
        $index$,
        v_schema
    );
end;
$$;
