-- noqa: disable=PRS
-- Stemmers for every language of the setting fts_language; unlike PostgreSQL's own, they keep stop words, since a
-- phrase needs them.
-- depends: 0003.chunks

create text search dictionary arabic_stems (template = snowball, language = arabic);
create text search dictionary armenian_stems (template = snowball, language = armenian);
create text search dictionary basque_stems (template = snowball, language = basque);
create text search dictionary catalan_stems (template = snowball, language = catalan);
create text search dictionary danish_stems (template = snowball, language = danish);
create text search dictionary dutch_stems (template = snowball, language = dutch);
create text search dictionary english_stems (template = snowball, language = english);
create text search dictionary finnish_stems (template = snowball, language = finnish);
create text search dictionary french_stems (template = snowball, language = french);
create text search dictionary german_stems (template = snowball, language = german);
create text search dictionary greek_stems (template = snowball, language = greek);
create text search dictionary hindi_stems (template = snowball, language = hindi);
create text search dictionary hungarian_stems (template = snowball, language = hungarian);
create text search dictionary indonesian_stems (template = snowball, language = indonesian);
create text search dictionary irish_stems (template = snowball, language = irish);
create text search dictionary italian_stems (template = snowball, language = italian);
create text search dictionary lithuanian_stems (template = snowball, language = lithuanian);
create text search dictionary nepali_stems (template = snowball, language = nepali);
create text search dictionary norwegian_stems (template = snowball, language = norwegian);
create text search dictionary portuguese_stems (template = snowball, language = portuguese);
create text search dictionary romanian_stems (template = snowball, language = romanian);
create text search dictionary russian_stems (template = snowball, language = russian);
create text search dictionary serbian_stems (template = snowball, language = serbian);
create text search dictionary spanish_stems (template = snowball, language = spanish);
create text search dictionary swedish_stems (template = snowball, language = swedish);
create text search dictionary tamil_stems (template = snowball, language = tamil);
create text search dictionary turkish_stems (template = snowball, language = turkish);
create text search dictionary yiddish_stems (template = snowball, language = yiddish);

-- for queries that an entry of several chunks may meet with all of them together
create index chunk_part_words_idx on chunk using gin (words) where is_part;
