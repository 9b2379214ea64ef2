create or replace function fuse_ranks(
    p_entry_ids uuid[],
    p_legs integer[],
    p_ranks integer[],
    p_scores double precision[],
    p_method text default 'rrf',
    p_rrf_k integer default 60
)
returns table (entry_id uuid, score double precision)
language sql
immutable
rows 200
begin atomic
    with found as (
        select leg_match.entry_id, leg_match.leg, leg_match.rank, leg_match.score
        from unnest(p_entry_ids, p_legs, p_ranks, p_scores) as leg_match (entry_id, leg, rank, score)
    ),

    shares as (
        select
            found.entry_id,
            found.leg,
            case p_method
                when 'rrf' then 1 / (p_rrf_k + found.rank)::double precision
                else found.score / (select count(distinct leg_of.leg) from found as leg_of)
            end as share
        from found
    )

    select
        shares.entry_id,
        -- in the order of the legs, since a sum of doubles depends on it
        sum(shares.share order by shares.leg) as score
    from shares
    group by shares.entry_id;
end;

comment on function fuse_ranks is
'Fuses the matches of any number of legs to one score for each entry. Each match is an entry, its leg, its rank there (from 1) and its score there, from 0 to 1. rrf: the sum of 1 / (p_rrf_k + rank), Cormack, Clarke and Büttcher 2009; convex: the mean of the scores over the legs, 0 where a leg has not found the entry.';
