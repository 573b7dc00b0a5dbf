import './definition/zod-words'
import { resolve } from 'node:path'
import { z } from 'zod'
import { processWide } from '@/db/process-wide'
import { AllowedHosts } from '@/lib/ip'
import { mayBePriceFile, NO_PRICE_FILE } from '@/lib/model-prices'
import { readS3Url } from '@/lib/s3-url'

/** A setting is missing or wrong. The message is one sentence with the fix. */
export class EnvError extends Error {
  override name = 'EnvError'
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
const DEFAULT_PORT = 3000
/** The default limit of a tenant, in limits of one caller. */
const TENANT_SHARE = 10

/**
 * A function on Vercel ends after 300 s, which the routes request as `maxDuration`. A call may begin a step until 50 s;
 * the remaining time is for recording it.
 */
const LONGEST_STEP_ON_VERCEL_MS = 240_000
export const LONGEST_CALL_ON_VERCEL_S = 300
/** A call that only waits responds before that, with the current state. */
const LONGEST_WAIT_MS = 300_000
const LONGEST_WAIT_ON_VERCEL_MS = 280_000

/** An empty variable counts as unset, because `.env.example` lists them all. */
const unlessEmpty = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === '' ? undefined : value), schema)
const flag = z
  .enum(['', '0', '1', 'true', 'false'], { error: 'must be 1, 0, true or false' })
  .optional()
  .transform((value) => value === '1' || value === 'true')
const optional = z
  .string()
  .optional()
  .transform((value) => (value === '' ? undefined : value))
const wholeNumber = (min: number, max: number) => {
  const error = `must be a whole number from ${min} to ${max}`
  return z.coerce.number({ error }).int({ error }).min(min, { error }).max(max, { error })
}
const count = (min: number, max: number, fallback: number) => unlessEmpty(wholeNumber(min, max).default(fallback))
/** Requests per minute; 0 means no limit. */
const perMinute = unlessEmpty(wholeNumber(0, 1_000_000).optional())
const httpUrl = optional.refine((value) => value === undefined || /^https?:\/\/[^/]+/.test(value), {
  message: 'must be an http(s) URL such as https://millrace.example.com',
})

const postgresUrl = optional.refine((value) => value === undefined || /^postgres(ql)?:\/\//.test(value), {
  message: 'must be a postgres:// URL',
})

/** The keys in `ENCRYPTION_KEY`. The first encrypts and all decrypt, so a key can be replaced. */
export function parseEncryptionKeys(text: string): Buffer[] | null {
  const keys = text.split(',').map((part) => {
    const one = part.trim()
    return Buffer.from(one, /^[0-9a-f]{64}$/i.test(one) ? 'hex' : 'base64')
  })
  return keys.every((key) => key.length === 32) ? keys : null
}

const Variables = z.object({
  NODE_ENV: z.enum(['development', 'production', 'test']).catch('production'),
  PORT: optional.refine((value) => value === undefined || (/^\d{1,5}$/.test(value) && Number(value) <= 65535), {
    message: 'must be a port number from 0 to 65535',
  }),
  HOST: optional,
  /** Where a worker answers `/api/health` and `/api/metrics`; without it, it opens no port. */
  WORKER_PORT: optional.refine((value) => value === undefined || (/^\d{1,5}$/.test(value) && Number(value) <= 65535), {
    message: 'must be a port number from 0 to 65535',
  }),
  DATA_DIR: z.string().min(1).catch('.data'),
  DATABASE_URL: postgresUrl,
  /** The same database without a pooler in between, for migrations and LISTEN. */
  DATABASE_URL_UNPOOLED: postgresUrl,
  /** How many connections a process opens for its work. */
  DATABASE_POOL_MAX: unlessEmpty(wholeNumber(2, 100).optional()),
  BOOTSTRAP_TENANT_ID: optional.refine((value) => value === undefined || /^[A-Za-z0-9_-]{1,80}$/.test(value), {
    message: 'must be 1 to 80 letters, digits, _ or -',
  }),
  BOOTSTRAP_API_KEY: optional.refine((value) => value === undefined || /^sk_[A-Za-z0-9_-]{8,200}$/.test(value), {
    message: 'must be sk_ followed by at least 8 letters, digits, _ or -',
  }),
  PUBLIC_URL: httpUrl,
  JWT_AUDIENCE: optional.refine((value) => value === undefined || (value.length <= 256 && value.trim() === value), {
    message: 'must be the audience that tokens carry, such as millrace.example.com',
  }),
  ENCRYPTION_KEY: optional.refine((value) => value === undefined || parseEncryptionKeys(value) !== null, {
    message: 'must be 32 random bytes in base64 or hex, such as `openssl rand -base64 32` prints',
  }),
  /** The token of a Prometheus server that reads the metrics; without it, metrics are off. */
  METRICS_TOKEN: optional.refine((value) => value === undefined || /^[\x21-\x7e]{16,256}$/.test(value), {
    message: 'must have 16 to 256 printable ASCII characters without spaces',
  }),
  /** The workspace whose owners see the state of the service; by default, the only one there is. */
  OPERATOR_TENANT_ID: optional.refine((value) => value === undefined || /^[A-Za-z0-9_-]{1,80}$/.test(value), {
    message: 'must be the id of a workspace, such as ten_default',
  }),
  /** Where traces are sent; without it, tracing is off. Also read by the SDK. */
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl,
  /** Read by the SDK: headers for the receiver, such as its key. */
  OTEL_EXPORTER_OTLP_HEADERS: optional,
  OTEL_SERVICE_NAME: optional,
  RATE_LIMIT_REQUESTS: perMinute,
  RATE_LIMIT_STARTS: perMinute,
  RATE_LIMIT_INVOKES: perMinute,
  RATE_LIMIT_FAILURES: perMinute,
  /** The limits of all credentials of one tenant together. */
  RATE_LIMIT_TENANT_REQUESTS: perMinute,
  RATE_LIMIT_TENANT_STARTS: perMinute,
  RATE_LIMIT_TENANT_INVOKES: perMinute,
  RATE_LIMIT_SHARED: flag,
  /** How many event streams may be open in a process. */
  STREAMS_PER_TENANT: count(1, 100_000, 200),
  STREAMS_TOTAL: count(1, 1_000_000, 2_000),
  /** Next also serves the API, as it does under `next start`. */
  API_THROUGH_NEXT: flag,
  TRUST_PROXY: count(0, 10, 0),
  /** Private hosts that tools may call despite the block. */
  ALLOW_PRIVATE_HOSTS: optional.refine((value) => value === undefined || AllowedHosts.parse(value) !== null, {
    message: 'must list hosts, host:port, addresses or CIDR ranges, such as db.internal:8080,10.0.0.0/8',
  }),
  /**
   * Whether this process executes runs and serves requests (`inline`), only executes runs (`worker`), or only serves
   * requests (`off`).
   */
  ENGINE: unlessEmpty(
    z.enum(['inline', 'worker', 'off'], { error: 'must be inline, worker or off' }).default('inline'),
  ),
  INNGEST_EVENT_KEY: optional,
  INNGEST_SIGNING_KEY: optional,
  /** Read by the SDK: a second key to accept, while the first is being replaced. */
  INNGEST_SIGNING_KEY_FALLBACK: optional,
  /** Read by the SDK: the branch environment; on Vercel the name of the Git branch. */
  INNGEST_ENV: optional,
  INNGEST_DEV: optional,
  INNGEST_BASE_URL: httpUrl,
  /** Where the Inngest server reaches this service, if not at PUBLIC_URL. Also read by the SDK. */
  INNGEST_SERVE_ORIGIN: httpUrl,
  /** The bucket for files, if set. It contains a secret. */
  FILES_S3_URL: optional.refine((value) => value === undefined || readS3Url(value) !== null, {
    message: 'must be a bucket with its key, such as https://KEY:SECRET@s3.example.com/bucket?region=eu-central-1',
  }),
  /** Otherwise the Vercel Blob store for files; without either, they go to a folder in DATA_DIR. */
  BLOB_READ_WRITE_TOKEN: optional.refine(
    (value) => value === undefined || /^vercel_blob_rw_[A-Za-z0-9]+_/.test(value),
    {
      message: 'must be the read-write token of a Vercel Blob store (vercel_blob_rw_…)',
    },
  ),
  UPLOAD_LIMIT_MB: count(4, 100, 25),
  /** Read by the launcher and the web process: see `cli/common.mjs`. */
  STOP_DELAY_MS: count(0, 120_000, 0),
  SYNC_START_TIMEOUT_MS: count(0, 600_000, 50_000),
  /** How long a step may continue after a cancel. */
  CANCEL_GRACE_MS: count(0, 600_000, 10_000),
  /** How long an answer given in the dashboard can be undone; 0 for not at all. */
  ANSWER_UNDO_MS: count(0, 60_000, 10_000),
  /** How long a run's whole cleanup path may take. */
  CANCEL_CLEANUP_MS: count(1_000, 3_600_000, 30_000),
  /** How many steps of one tenant may run concurrently. */
  TENANT_CONCURRENCY: count(1, 1_000, 64),
  /** How many runs may be queued before starts are refused; 0 for any number. */
  QUEUE_LIMIT: count(0, 10_000_000, 10_000),
  /** How long an agent may take to answer one message, including tool calls and retries. */
  AGENT_TIMEOUT_MS: count(100, 600_000, 120_000),
  OPENAI_API_KEY: optional,
  ANTHROPIC_API_KEY: optional,
  GOOGLE_GENERATIVE_AI_API_KEY: optional,
  /** A proxy in front of the provider, with the API version in its path. */
  OPENAI_BASE_URL: httpUrl,
  ANTHROPIC_BASE_URL: httpUrl,
  GOOGLE_GENERATIVE_AI_BASE_URL: httpUrl,
  /** Encrypts session cookies; derived from ENCRYPTION_KEY if unset. */
  NEXTAUTH_SECRET: optional.refine((value) => value === undefined || value.length >= 16, {
    message: 'must be at least 16 characters',
  }),
  MODEL_PRICES_FILE: optional.refine(mayBePriceFile, NO_PRICE_FILE),
  /** The origin people sign in at; the request's own origin if unset. */
  NEXTAUTH_URL: httpUrl,
  GITHUB_ID: optional,
  GITHUB_SECRET: optional,
  GOOGLE_CLIENT_ID: optional,
  GOOGLE_CLIENT_SECRET: optional,
  /** A first visitor from another machine must enter it; generated in DATA_DIR if unset. */
  SETUP_TOKEN: optional.refine((value) => value === undefined || value.length >= 16, {
    message: 'must be at least 16 characters',
  }),
  /** The server that sends mails about tasks; without it, no mails are sent. */
  SMTP_URL: optional.refine((value) => value === undefined || (/^smtps?:\/\/[^/]/.test(value) && URL.canParse(value)), {
    message: 'must be an smtp:// or smtps:// URL, such as smtps://user:password@mail.example.com',
  }),
  MAIL_FROM: optional.refine((value) => value === undefined || /^[^\r\n]*@[^\s@<>]+>?$/.test(value), {
    message: 'must be an e-mail address, such as tasks@example.com or Tasks <tasks@example.com>',
  }),
  LOG_LEVEL: unlessEmpty(
    z
      .enum(LOG_LEVELS, { error: `must be ${LOG_LEVELS.slice(0, -1).join(', ')} or ${LOG_LEVELS.at(-1)}` })
      .default('info'),
  ),
  /** The service that `admin pull`, `diff` and `apply` use instead of this machine's, and its API key. */
  DEFINITIONS_URL: httpUrl,
  DEFINITIONS_KEY: optional,
  // Vercel sets these.
  VERCEL: flag,
  VERCEL_ENV: optional,
  VERCEL_URL: optional,
  VERCEL_BRANCH_URL: optional,
  VERCEL_PROJECT_PRODUCTION_URL: optional,
  VERCEL_AUTOMATION_BYPASS_SECRET: optional,
  MILLRACE_EMBEDDED: flag,
  MILLRACE_HOST_ID: optional,
  /** Marks requests from this machine. Only the web process knows it. */
  MILLRACE_LOCAL_KEY: optional,
  MILLRACE_TEST_STEPS: flag,
  /** A field of run data larger than this is stored by reference, and how long a step may take. Tests lower both. */
  MILLRACE_TEST_LARGE_BYTES: count(0, 1_000_000, 4 * 1024),
  MILLRACE_TEST_STEP_MS: unlessEmpty(wholeNumber(100, 600_000).optional()),
  /** Tests turn off what a process remembers of runs. */
  MILLRACE_TEST_RECALL: unlessEmpty(z.enum(['on', 'off'], { error: 'must be on or off' }).default('on')),
})

export type Env = Readonly<
  Omit<z.output<typeof Variables>, 'PORT' | 'DATA_DIR' | `RATE_LIMIT_${string}` | 'JWT_AUDIENCE'> & {
    port: number
    /** True when PORT was not set, so the service may pick another free port. */
    portIsDefault: boolean
    /** Absolute path of DATA_DIR. */
    dataDir: string
    poolMax: number
    /** The database's address for migrations and LISTEN. */
    directUrl: string | undefined
    /** How long an attempt of a step may take at most, because the platform ends the process soon after. */
    longestStepMs: number
    /** How long a caller may wait for a run, for the same reason. */
    longestWaitMs: number
    /** This deployment's role on its platform. A preview must not touch production's database. */
    deployment: 'production' | 'preview' | null
    /** `inngest` when the functions run on an Inngest server, `embedded` when this process runs them. */
    engine: 'inngest' | 'embedded'
    /** The `aud` that tokens must carry. */
    jwtAudience: string
    /** Requests per minute; 0 means no limit. */
    limits: Readonly<Record<'requests' | 'starts' | 'invokes' | 'failures', number>>
    /** The same for all credentials of one tenant together. */
    tenantLimits: Readonly<Record<'requests' | 'starts' | 'invokes', number>>
    /** True when several processes share one count. */
    limitsShared: boolean
  }
>

/**
 * Parses the environment; nothing else in the product reads it.
 * @throws EnvError with one sentence that names the variable
 */
export function readEnv(source: Record<string, string | undefined>): Env {
  const parsed = Variables.safeParse(source)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    throw new EnvError(`${issue?.path.join('.') ?? 'The environment'} ${issue?.message ?? 'is wrong'}.`)
  }
  const { PORT, DATA_DIR, JWT_AUDIENCE, RATE_LIMIT_SHARED, ...variables } = parsed.data
  const { RATE_LIMIT_REQUESTS, RATE_LIMIT_STARTS, RATE_LIMIT_INVOKES, RATE_LIMIT_FAILURES, ...unlimited } = variables
  const { RATE_LIMIT_TENANT_REQUESTS, RATE_LIMIT_TENANT_STARTS, RATE_LIMIT_TENANT_INVOKES, ...rest } = unlimited
  const engine = inngestWanted(rest) ? 'inngest' : 'embedded'
  requireShared(rest, engine)
  const MAIL_FROM = rest.MAIL_FROM ?? senderOf(rest.SMTP_URL)
  requireBoth({ ...rest, MAIL_FROM }, 'SMTP_URL', 'MAIL_FROM')
  requireBoth(rest, 'GITHUB_ID', 'GITHUB_SECRET')
  requireBoth(rest, 'GOOGLE_CLIENT_ID', 'GOOGLE_CLIENT_SECRET')
  const ownDatabase = rest.DATABASE_URL !== undefined && !rest.MILLRACE_EMBEDDED
  const requests = RATE_LIMIT_REQUESTS ?? (ownDatabase ? 600 : 0)
  const starts = RATE_LIMIT_STARTS ?? (ownDatabase ? 120 : 0)
  const invokes = RATE_LIMIT_INVOKES ?? (ownDatabase ? 60 : 0)
  const PUBLIC_URL = rest.PUBLIC_URL ?? vercelOrigin(rest)
  const longestWaitMs = rest.VERCEL ? LONGEST_WAIT_ON_VERCEL_MS : LONGEST_WAIT_MS
  const inTime = (ms: number) => (rest.VERCEL ? Math.min(ms, longestWaitMs) : ms)
  return Object.freeze({
    ...rest,
    PUBLIC_URL,
    MAIL_FROM,
    poolMax: rest.DATABASE_POOL_MAX ?? (rest.VERCEL ? 3 : 10),
    directUrl: rest.DATABASE_URL_UNPOOLED ?? rest.DATABASE_URL,
    deployment: deploymentOf(rest),
    longestStepMs: rest.MILLRACE_TEST_STEP_MS ?? (rest.VERCEL ? LONGEST_STEP_ON_VERCEL_MS : Number.POSITIVE_INFINITY),
    longestWaitMs,
    SYNC_START_TIMEOUT_MS: inTime(rest.SYNC_START_TIMEOUT_MS),
    AGENT_TIMEOUT_MS: inTime(rest.AGENT_TIMEOUT_MS),
    port: PORT === undefined ? DEFAULT_PORT : Number(PORT),
    portIsDefault: PORT === undefined,
    dataDir: resolve(DATA_DIR),
    engine,
    // Excludes the port, which may change between local starts: tokens must outlive that.
    jwtAudience: JWT_AUDIENCE ?? (PUBLIC_URL ? new URL(PUBLIC_URL).hostname : 'localhost'),
    limits: Object.freeze({
      requests,
      starts,
      invokes,
      // On a developer's machine everyone shares one address, including test suites.
      failures: Math.max(1, RATE_LIMIT_FAILURES ?? (ownDatabase ? 30 : 300)),
    }),
    tenantLimits: Object.freeze({
      requests: RATE_LIMIT_TENANT_REQUESTS ?? TENANT_SHARE * requests,
      starts: RATE_LIMIT_TENANT_STARTS ?? TENANT_SHARE * starts,
      invokes: RATE_LIMIT_TENANT_INVOKES ?? TENANT_SHARE * invokes,
    }),
    limitsShared: RATE_LIMIT_SHARED || rest.VERCEL,
  })
}

/**
 * The settings that Vercel requires. Checked when a process starts and not when the environment is read: the build also
 * reads it, and needs none of them.
 * @throws EnvError
 */
export function requirePlatform({ VERCEL, ...settings }: Env): void {
  if (!VERCEL) return
  if (!settings.DATABASE_URL)
    throw new EnvError('DATABASE_URL is required on Vercel, which cannot run the embedded database.')
  if (settings.engine === 'embedded') {
    throw new EnvError(
      'INNGEST_EVENT_KEY and INNGEST_SIGNING_KEY are required on Vercel, where nothing runs between requests.',
    )
  }
  if (!settings.ENCRYPTION_KEY) {
    throw new EnvError('ENCRYPTION_KEY is required on Vercel, which cannot store a generated one.')
  }
}

type VercelSettings = Partial<
  Record<'VERCEL_ENV' | 'VERCEL_URL' | 'VERCEL_BRANCH_URL' | 'VERCEL_PROJECT_PRODUCTION_URL', string | undefined>
> & { VERCEL: boolean }

/** A branch has the same address in every deployment. */
function vercelOrigin(settings: VercelSettings): string | undefined {
  if (!settings.VERCEL) return undefined
  const { VERCEL_ENV, VERCEL_URL, VERCEL_BRANCH_URL, VERCEL_PROJECT_PRODUCTION_URL } = settings
  const host = (VERCEL_ENV === 'production' ? VERCEL_PROJECT_PRODUCTION_URL : VERCEL_BRANCH_URL) ?? VERCEL_URL
  return host && `https://${host}`
}

function deploymentOf({ VERCEL, VERCEL_ENV }: VercelSettings): Env['deployment'] {
  if (!VERCEL) return null
  return VERCEL_ENV === 'production' ? 'production' : 'preview'
}

/** Requests and work in different processes need a shared database and the embedded engine. */
function requireShared({ ENGINE, DATABASE_URL }: Pick<Env, 'ENGINE' | 'DATABASE_URL'>, engine: Env['engine']): void {
  if (ENGINE === 'inline') return
  if (engine === 'inngest') {
    throw new EnvError(`ENGINE=${ENGINE} applies only to the embedded engine. Remove ENGINE, or do not use Inngest.`)
  }
  if (!DATABASE_URL) {
    throw new EnvError(`DATABASE_URL is missing: with ENGINE=${ENGINE}, the processes share that database.`)
  }
}

function requireBoth<N extends string>(env: Partial<Record<N, string | undefined>>, one: N, other: N): void {
  if (Boolean(env[one]) === Boolean(env[other])) return
  throw new EnvError(`${env[one] ? other : one} is missing: set both ${one} and ${other}, or neither.`)
}

/** Many servers identify their users by address, which is then the sender. */
function senderOf(smtpUrl: string | undefined): string | undefined {
  const user = smtpUrl === undefined ? '' : decodeURIComponent(new URL(smtpUrl).username)
  return /^[^\s@<>]+@[^\s@<>]+$/.test(user) ? user : undefined
}

const OFF = ['0', 'false']

function inngestWanted(env: {
  INNGEST_EVENT_KEY?: string | undefined
  INNGEST_SIGNING_KEY?: string | undefined
  INNGEST_DEV?: string | undefined
  VERCEL: boolean
}) {
  const { INNGEST_EVENT_KEY: eventKey, INNGEST_SIGNING_KEY: signingKey, INNGEST_DEV: dev } = env
  if (dev !== undefined && !OFF.includes(dev)) {
    // In dev mode the SDK checks no signatures, so anyone could call the functions.
    if (env.VERCEL) throw new EnvError('INNGEST_DEV must not be set on Vercel: it turns off signature checks.')
    const key = eventKey ? 'INNGEST_EVENT_KEY' : signingKey ? 'INNGEST_SIGNING_KEY' : null
    if (key) {
      throw new EnvError(
        `INNGEST_DEV must not be set beside ${key}: it turns off signature checks. Remove one of them.`,
      )
    }
    return true
  }
  if (eventKey && signingKey) return true
  const half = eventKey ? 'INNGEST_SIGNING_KEY' : signingKey ? 'INNGEST_EVENT_KEY' : null
  if (half) throw new EnvError(`${half} is missing: set both INNGEST_EVENT_KEY and INNGEST_SIGNING_KEY, or neither.`)
  return false
}

/** The environment of this process, parsed once. */
export function env(): Env {
  return processWide('env', () => readEnv(process.env))
}
