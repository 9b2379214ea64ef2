drop table entry_image;
drop table entry_grant;
drop table entry_tag;
drop table entry_text;
drop table entry;
