create or replace function text_array(p_document jsonb)
returns text[]
language sql
immutable
strict
return array(
    select element.value
    from jsonb_array_elements_text(p_document) with ordinality as element (value, place)
    order by element.place
);

comment on function text_array is 'The strings of a JSON array, in order; null for null.';
