drop table installed_file;
drop table setting;
drop table entry_image;
drop table entry_grant;
drop table entry;
