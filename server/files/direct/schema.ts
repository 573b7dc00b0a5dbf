import { z } from 'zod'
import { component } from '../../definition/component'

export const BeginUpload = component('BeginUpload', {
  name: z.string().min(1).max(1_000).describe('The file’s name, as people see it.'),
  type: z
    .string()
    .max(300)
    .default('')
    .describe('Its type, as the sender knows it. The service detects the type from the bytes.'),
  size: z.int().min(1).describe('Its exact size in bytes.'),
})
export type BeginUpload = z.input<typeof BeginUpload>
