create or replace function compile_substring_test(
    p_path text[], p_operator text, p_value text, p_case_sensitive boolean
)
returns text
language sql
immutable
begin atomic
    with operand as (
        select
            case when p_case_sensitive then exact_text(p_path) else folded_text(p_path) end as expression,
            case when p_case_sensitive then p_value else lower(p_value collate "C") end as value
    )

    select
        case p_operator
            when 'contains' then format('strpos(%s, %L) > 0', operand.expression, operand.value)
            when 'ends_with'
                then format('right(%s, %s) = %L', operand.expression, length(operand.value), operand.value)
            when 'starts_with'
                then format(
                    '%s like %L', operand.expression,
                    regexp_replace(operand.value, '([\\%_])', '\\\1', 'g') || '%'
                )
        end
    from operand;
end;

comment on function compile_substring_test is
'Tests a metadata string for contains, starts_with or ends_with, ignoring the case of A-Z unless asked not to.';
