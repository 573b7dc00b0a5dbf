import { resolve } from 'node:path'
import { z } from 'zod'

/** A setting is missing or wrong. The message is one sentence a person can act on. */
export class EnvError extends Error {
  override name = 'EnvError'
}

const flag = z
  .enum(['', '0', '1', 'true', 'false'])
  .optional()
  .transform((value) => value === '1' || value === 'true')
const optional = z
  .string()
  .optional()
  .transform((value) => (value === '' ? undefined : value))
const count = (min: number, max: number, fallback: number) =>
  z.preprocess(
    (value) => (value === '' ? undefined : value),
    z.coerce.number().int().min(min).max(max).default(fallback),
  )
const httpUrl = optional.refine((value) => value === undefined || /^https?:\/\/[^/]+/.test(value), {
  message: 'must be an http(s) URL such as https://millrace.example.com',
})

const Variables = z.object({
  NODE_ENV: z.enum(['development', 'production', 'test']).catch('production'),
  PORT: optional.refine((value) => value === undefined || (/^\d{1,5}$/.test(value) && Number(value) <= 65535), {
    message: 'must be a port number from 0 to 65535',
  }),
  HOST: optional,
  DATA_DIR: z.string().min(1).catch('.data'),
  DATABASE_URL: optional.refine((value) => value === undefined || /^postgres(ql)?:\/\//.test(value), {
    message: 'must be a postgres:// URL',
  }),
  BOOTSTRAP_TENANT_ID: optional.refine((value) => value === undefined || /^ten_[A-Za-z0-9_]{1,60}$/.test(value), {
    message: 'must look like ten_ followed by letters, digits or _',
  }),
  BOOTSTRAP_API_KEY: optional.refine((value) => value === undefined || /^sk_[A-Za-z0-9_-]{8,200}$/.test(value), {
    message: 'must be sk_ followed by at least 8 letters, digits, _ or -',
  }),
  PUBLIC_URL: httpUrl,
  INNGEST_EVENT_KEY: optional,
  INNGEST_SIGNING_KEY: optional,
  INNGEST_DEV: optional,
  INNGEST_BASE_URL: httpUrl,
  SYNC_START_TIMEOUT_MS: count(0, 600_000, 50_000),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).catch('info'),
  VERCEL: flag,
  MILLRACE_EMBEDDED: flag,
  MILLRACE_HOST_ID: optional,
  MILLRACE_TEST_STEPS: flag,
})

export type Env = Readonly<
  Omit<z.output<typeof Variables>, 'PORT' | 'DATA_DIR'> & {
    port: number
    /** True when PORT was not set, so another free port may be taken. */
    portIsDefault: boolean
    /** Absolute path of DATA_DIR. */
    dataDir: string
    /** `inngest` when the functions run on a real Inngest server, `embedded` when this machine runs them itself. */
    engine: 'inngest' | 'embedded'
  }
>

/**
 * Parses the environment; the only reader of it in the product.
 * @throws EnvError with one sentence that names the variable.
 */
export function readEnv(source: Record<string, string | undefined>): Env {
  const parsed = Variables.safeParse(source)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    throw new EnvError(`${issue?.path.join('.') ?? 'The environment'} ${issue?.message ?? 'is wrong'}.`)
  }
  const { PORT, DATA_DIR, ...rest } = parsed.data
  const engine = inngestWanted(rest) ? 'inngest' : 'embedded'
  if (rest.VERCEL && !rest.DATABASE_URL)
    throw new EnvError('DATABASE_URL is required on Vercel: no database can be embedded there.')
  if (rest.VERCEL && engine === 'embedded') {
    throw new EnvError(
      'INNGEST_EVENT_KEY and INNGEST_SIGNING_KEY are required on Vercel: no process lives between requests there.',
    )
  }
  return Object.freeze({
    ...rest,
    port: PORT === undefined ? 3000 : Number(PORT),
    portIsDefault: PORT === undefined,
    dataDir: resolve(DATA_DIR),
    engine,
  })
}

function inngestWanted(env: {
  INNGEST_EVENT_KEY?: string | undefined
  INNGEST_SIGNING_KEY?: string | undefined
  INNGEST_DEV?: string | undefined
}) {
  if (env.INNGEST_DEV !== undefined && env.INNGEST_DEV !== '0') return true
  if (env.INNGEST_EVENT_KEY && env.INNGEST_SIGNING_KEY) return true
  const half = env.INNGEST_EVENT_KEY ? 'INNGEST_SIGNING_KEY' : env.INNGEST_SIGNING_KEY ? 'INNGEST_EVENT_KEY' : null
  if (half)
    throw new EnvError(`${half} is missing: INNGEST_EVENT_KEY and INNGEST_SIGNING_KEY are set together or not at all.`)
  return false
}

let current: Env | undefined

/** The environment of this process, parsed once. */
export function env(): Env {
  current ??= readEnv(process.env)
  return current
}
