create or replace function character_class(p_name text)
returns text
language sql
immutable
strict
return case p_name
    when 'separators'
        then
            '\u0001-\u002f:-@\u005b-`\u007b-\u00a9\u00ab-\u00b1\u00b4\u00b6-\u00b8\u00bb\u00bf\u00d7\u00f7'
            || '\u02c2-\u02c5\u02d2-\u02df\u02e5-\u02eb\u02ed\u02ef-\u02ff\u0375\u037e\u0384\u0385\u0387'
            || '\u03f6\u0482'
            || '\u055a-\u055f\u0589-\u058f\u05be\u05c0\u05c3\u05c6\u05f3-\u060f\u061b\u061d-\u061f\u066a-\u066d'
            || '\u06d4\u06dd\u06de\u06e9\u06fd\u06fe\u0700-\u070f\u0964\u0965\u0970\u09f2\u09f3\u0af1\u0bf3-\u0bfa'
            || '\u0df4\u0e3f\u0e4f\u0e5a-\u0e5b\u0f01-\u0f17\u0f3a-\u0f3d\u104a-\u104f\u10fb\u1360-\u1368\u1400'
            || '\u1680\u17d4-\u17d6\u17d8-\u17db\u1800-\u180a\u180e\u1940-\u1945\u1fbd\u1fbf-\u1fc1\u1fcd-\u1fcf'
            || '\u1fdd-\u1fdf\u1fed-\u1fef\u1ffd-\u200b\u2010-\u2029\u202f-\u205f\u207a-\u207e\u208a-\u208e'
            || '\u20a0-\u20cf\u2100-\u2125\u2127-\u2129\u212e\u213a\u213b\u2140-\u2144\u214a-\u214f\u2190-\u2319'
            || '\u2400-\u24ff\u2500-\u25ff\u27c0-\u2b4f\u2b56-\u2bff\u2cf9-\u2cff\u2e00-\u2e7f\u2ff0-\u3004'
            || '\u3008-\u3020\u3030\u3036\u3037\u303d-\u3040\u309b\u309c\u30a0\u30fb\u3190-\u319f\u31c0-\u31ef'
            || '\u3200-\u33ff\u4dc0-\u4dff\ua4fe\ua4ff\ua60d-\ua60f\ua8ce\ua8cf\uabeb\ue000-\uf8ff\ufd3e\ufd3f'
            || '\ufdfc-\ufdff\ufe10-\ufe1f\ufe30-\ufe6f\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65'
            || '\uffe0-\uffff\U0001d000-\U0001d3ff\U000f0000-\U0010ffff'
    when 'unspaced'
        then
            '\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59\u0e80-\u0eff\u1000-\u1049\u1050-\u109d\u1100-\u11ff'
            || '\u1780-\u17d3\u17d7\u17dc-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u302f\u3031-\u3035\u3038-\u303c'
            || '\u3041-\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u318f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf'
            || '\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U0001aff0-\U0001b16f\U00020000-\U0003ffff'
    when 'pictures'
        then
            '\u231a-\u23ff\u2600-\u27bf\u2b50-\u2b55\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa'
            || '\U0001f400-\U0001fbff'
    when 'marks'
        then '\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u0655\u0670'
    when 'invisible'
        then
            '\u00ad\u061c\u180b-\u180f\u200c-\u200f\u202a-\u202e\u2060-\u206f\u20e3\ufe00-\ufe0f\ufeff'
            || '\U0001f3fb-\U0001f3ff\U000e0000-\U000e0fff'
    when 'joiners'
        then '\-_./:@+#'
end;

comment on function character_class is
'The classes of characters that the analysis of texts knows, as the inside of a bracket expression: separators between words, unspaced scripts, pictures, marks that words are found without, invisible characters, joiners of compounds. The same as in the server''s text/analysis.py.';
