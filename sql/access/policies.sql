-- Row-level security, the second wall. Helpers stand in sub-selects, so that the planner runs them once for a
-- statement and not once for a row.

alter table entry enable row level security;
alter table entry_grant enable row level security;
alter table entry_image enable row level security;
alter table thread_figure enable row level security;
alter table chunk enable row level security;
alter table chunk_embedding enable row level security;
alter table setting enable row level security;
alter table database_login enable row level security;
alter table installed_file enable row level security;
alter table _yoyo_migration enable row level security;
alter table _yoyo_log enable row level security;
alter table _yoyo_version enable row level security;

drop policy if exists entry_read on entry;
create policy entry_read on entry for select
using (readers && (select current_readers()));

drop policy if exists entry_insert on entry;
create policy entry_insert on entry for insert
with check (owner = (select current_principal()) and (select may_write()));

drop policy if exists entry_update on entry;
create policy entry_update on entry for update
using (writers && (select current_readers()) and (select may_write()));

drop policy if exists entry_delete on entry;
create policy entry_delete on entry for delete
using (owner = (select current_principal()) and (select may_write()));

drop policy if exists entry_grant_read on entry_grant;
create policy entry_grant_read on entry_grant for select
using (owner = (select current_principal()));

drop policy if exists entry_grant_insert on entry_grant;
create policy entry_grant_insert on entry_grant for insert
with check (owner = (select current_principal()) and (select may_write()));

drop policy if exists entry_grant_delete on entry_grant;
create policy entry_grant_delete on entry_grant for delete
using (owner = (select current_principal()) and (select may_write()));

drop policy if exists entry_image_read on entry_image;
create policy entry_image_read on entry_image for select
using (exists (select from entry where entry.id = entry_image.entry_id));

drop policy if exists entry_image_insert on entry_image;
create policy entry_image_insert on entry_image for insert
with check (may_change_entry(entry_id) and (select may_write()));

drop policy if exists entry_image_delete on entry_image;
create policy entry_image_delete on entry_image for delete
using (may_change_entry(entry_id) and (select may_write()));

drop policy if exists chunk_read on chunk;
create policy chunk_read on chunk for select
using (exists (select from entry where entry.id = chunk.entry_id));

drop policy if exists chunk_embedding_read on chunk_embedding;
create policy chunk_embedding_read on chunk_embedding for select
using (exists (select from entry where entry.id = chunk_embedding.entry_id));

-- what the operator decided is no secret but for the salt of the locks (see lock_turns); what is installed
-- and whom the logins stand for concerns the owner of the tables alone
drop policy if exists setting_read on setting;
create policy setting_read on setting for select
using (name <> 'lock_salt');
