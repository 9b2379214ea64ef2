create or replace function new_entry_id()
returns uuid
language sql
volatile
return (
    select
        encode(
            overlay(
                -- 48 bits of milliseconds, then version 7 with the fraction of the millisecond in 12 bits, as
                -- uuidv7() of PostgreSQL 18 lays them out, so that ids of one server sort by time
                overlay(
                    uuid_send(gen_random_uuid()),
                    substring(int8send(floor(clock.micros / 1000)::bigint) from 3), 1, 6
                ),
                substring(int4send(28672 + floor(mod(clock.micros, 1000) * 4096 / 1000)::integer) from 3), 7, 2
            ),
            'hex'
        )::uuid
    from (select floor(extract(epoch from clock_timestamp()) * 1000000) as micros) as clock
);

comment on function new_entry_id is 'A new UUID of version 7, in time order with its predecessors.';
