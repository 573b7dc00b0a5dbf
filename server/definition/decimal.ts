/** Whether a number is a multiple of another one, as people write both: 19.99 is one of 0.01. */
export function isMultiple(value: number, unit: number): boolean {
  const [a, b] = [decimalOf(value), decimalOf(unit)]
  const factor = 10n ** BigInt(Math.abs(a.exponent - b.exponent))
  const [scaled, by] = a.exponent > b.exponent ? [a.digits * factor, b.digits] : [a.digits, b.digits * factor]
  return by !== 0n && scaled % by === 0n
}

/** Exponents are between -340 and 308, so all results stay small. */
function decimalOf(value: number): { digits: bigint; exponent: number } {
  const [mantissa = '', power = '0'] = String(value).split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  return { digits: BigInt(whole + fraction), exponent: Number(power) - fraction.length }
}

/** A multiple of a number, without the tail of digits that binary fractions have. */
export function times(count: number, unit: number): number {
  return Number((count * unit).toPrecision(15))
}
