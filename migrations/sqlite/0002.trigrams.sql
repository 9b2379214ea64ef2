-- The trigrams of every text, by which grep_context finds the entries that can hold a match.
-- depends: 0001.entries

-- It keeps neither the texts nor where in them a trigram stands; and the texts arrive folded, so it folds nothing.
create virtual table entry_trigram using fts5 (
    folded_content, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram case_sensitive 1'
);

-- The expression of folded_content().
insert into entry_trigram (rowid, folded_content)
select
    row_id,
    replace(replace(replace(replace(
        lower(text_content), char(0x130), 'i'), char(0x131), 'i'), char(0x17f), 's'), char(0x212a), 'k')
from entry_text;

create trigger entry_trigram_after_insert after insert on entry_text begin
    insert into entry_trigram (rowid, folded_content) values (
        new.row_id,
        replace(replace(replace(replace(
            lower(new.text_content), char(0x130), 'i'), char(0x131), 'i'), char(0x17f), 's'), char(0x212a), 'k')
    );
end;

create trigger entry_trigram_after_update after update of text_content on entry_text
when new.text_content <> old.text_content begin
    update entry_trigram
    set folded_content = replace(replace(replace(replace(
        lower(new.text_content), char(0x130), 'i'), char(0x131), 'i'), char(0x17f), 's'), char(0x212a), 'k')
    where rowid = new.row_id;
end;

create trigger entry_trigram_after_delete after delete on entry_text begin
    delete from entry_trigram where rowid = old.row_id;
end;
