create or replace function compile_membership_test(
    p_path text[], p_values jsonb, p_case_sensitive boolean, p_is_negated boolean
)
returns text
language sql
immutable
begin atomic
    with members as (
        select
            jsonb_typeof(member.value) as type,
            compile_scalar_test(
                p_path, case when p_is_negated then '<>' else '=' end, member.value, p_case_sensitive
            ) as test
        from jsonb_array_elements(p_values) as member
    ),

    tests_by_type as (
        select '(' || string_agg(test, case when p_is_negated then ' and ' else ' or ' end) || ')' as test
        from members
        group by type
    )

    select string_agg(test, ' or ' order by test) from tests_by_type;
end;

comment on function compile_membership_test is
'Tests a metadata value for being, or not being, one of a list of constants; not_in, too, passes only values of a type in the list.';
