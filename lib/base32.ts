/** Crockford's digits, as in ULIDs. */
export const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** The last digits of a number, with leading zeros. */
export function base32(value: number, digits: number): string {
  let text = ''
  for (let left = value; text.length < digits; left = Math.floor(left / 32)) text = DIGITS.charAt(left % 32) + text
  return text
}
