import { or, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { sameName } from '../definition/people'

/** Invisible characters, as a Postgres character set. */
export const INVISIBLE = String.raw`[\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890-\u0891\u08e2\u115f-\u1160\u17b4-\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]`
/** Blanks; Postgres's own class has fewer. */
export const BLANK = String.raw`[\u0009-\u000d\u0020\u00a0\u1680\u2000-\u200a\u2028-\u2029\u202f\u205f\u3000\ufeff]`

/**
 * Whether a column with a name as written matches one of these people, compared like `sameName`: for queries that
 * cannot read all names first.
 * @param names as `sameName` returns them
 */
export function isNamed(column: SQLWrapper, names: readonly string[]): SQL {
  // Most names are plain, and need only a quick check.
  const seen = sql`case when ${column} ~ '[^!-~]' then btrim(regexp_replace(
    regexp_replace(normalize(${column}, nfc), ${INVISIBLE}, '', 'g'), ${`${BLANK}+`}, ' ', 'g')) else ${column} end`
  const anyCase = names.filter((name) =>
    [name.toUpperCase(), name.toLowerCase()].every((one) => sameName(one) === name),
  )
  const one = (texts: readonly string[]) => sql`(select jsonb_array_elements_text(${JSON.stringify(texts)}::jsonb))`
  const same = sql`${seen} in ${one(names)}`
  const folded = anyCase.map((name) => name.toLowerCase())
  return folded.length === 0 ? same : (or(same, sql`lower(${seen}) in ${one(folded)}`) ?? same)
}
