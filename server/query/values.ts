import { z } from 'zod'

/** A whole number in a query string. */
export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(min).max(max))

/** A boolean in a query string. */
export const flag = z
  .enum(['true', 'false'])
  .optional()
  .transform((value) => value === 'true')
