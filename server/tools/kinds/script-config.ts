import '../../definition/zod-words'
import { z } from 'zod'
import { AllowedHosts } from '@/lib/ip'

/** One host, not a range: a tool must list each host it calls. */
const Host = z
  .string()
  .max(300)
  .refine(
    (text) => /^[^\s,/]+$/.test(text) && AllowedHosts.parse(text) !== null,
    'must be a host or host:port, such as api.example.com',
  )

export const ScriptConfig = z.strictObject({
  code: z.string().max(200_000),
  timeoutMs: z.number().int().min(1).max(10_000).optional(),
  /** The hosts that the script's `fetch` may call; without any, it has no `fetch`. */
  allowedHosts: z.array(Host).max(50).optional(),
})
export type ScriptConfig = z.infer<typeof ScriptConfig>
