import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { EnvError, LONGEST_CALL_ON_VERCEL_S, readEnv, requirePlatform } from '@/server/env'

/** Reads a file like `docker --env-file`: no quotes, no comments after a value, trailing blanks are part of it. */
function asDockerReads(text: string): Record<string, string> {
  const lines = text.split('\n').map((line) => line.trimStart())
  const settings = lines.filter((line) => line !== '' && !line.startsWith('#'))
  return Object.fromEntries(
    settings.map((line) => {
      const at = line.indexOf('=')
      const name = at < 0 ? line : line.slice(0, at)
      if (/\s/.test(name) || at < 0) throw new Error(`not a setting: ${line}`)
      return [name, line.slice(at + 1)]
    }),
  )
}

const example = asDockerReads(readFileSync('.env.example', 'utf8'))

test('.env.example can be passed to a container as it is, and its defaults match those without it', () => {
  expect(Object.keys(example).length).toBeGreaterThan(30)
  expect(readEnv(example)).toEqual(readEnv({}))
})

test('.env.example lists every public setting', () => {
  const source = readFileSync('server/env.ts', 'utf8')
  const known = [...source.matchAll(/^ {2}([A-Z][A-Z0-9_]+):/gm)].map(([, name]) => name ?? '')
  const internal = /^(NODE_ENV$|VERCEL|MILLRACE_)/
  expect(known.filter((name) => !internal.test(name)).sort()).toEqual(Object.keys(example).sort())
})

test.each([
  ['WORKER_PORT', '70000', 'WORKER_PORT must be a port number from 0 to 65535.'],
  ['PORT', 'abc', 'PORT must be a port number from 0 to 65535.'],
  ['BOOTSTRAP_API_KEY', 'short', 'BOOTSTRAP_API_KEY must be sk_ followed by at least 8 letters, digits, _ or -.'],
  ['DATABASE_URL', 'mysql://here', 'DATABASE_URL must be a postgres:// URL.'],
  [
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'collector:4318',
    'OTEL_EXPORTER_OTLP_ENDPOINT must be an http(s) URL such as https://millrace.example.com.',
  ],
  ['OPERATOR_TENANT_ID', 'a b', 'OPERATOR_TENANT_ID must be the id of a workspace, such as ten_default.'],
  ['METRICS_TOKEN', 'short', 'METRICS_TOKEN must have 16 to 256 printable ASCII characters without spaces.'],
  [
    'SMTP_URL',
    'mail.example.com:25',
    'SMTP_URL must be an smtp:// or smtps:// URL, such as smtps://user:password@mail.example.com.',
  ],
  ['SMTP_URL', 'smtp://mail.example.com', 'MAIL_FROM is missing: set both SMTP_URL and MAIL_FROM, or neither.'],
  [
    'MAIL_FROM',
    'the tasks',
    'MAIL_FROM must be an e-mail address, such as tasks@example.com or Tasks <tasks@example.com>.',
  ],
  [
    'FILES_S3_URL',
    'https://s3.example.com/bucket',
    'FILES_S3_URL must be a bucket with its key, such as https://KEY:SECRET@s3.example.com/bucket?region=eu-central-1.',
  ],
  ['LOG_LEVEL', 'verbose', 'LOG_LEVEL must be trace, debug, info, warn, error, fatal or silent.'],
  ['LOG_LEVEL', 'INFO', 'LOG_LEVEL must be trace, debug, info, warn, error, fatal or silent.'],
  ['TRUST_PROXY', '11', 'TRUST_PROXY must be a whole number from 0 to 10.'],
  ['SYNC_START_TIMEOUT_MS', 'soon', 'SYNC_START_TIMEOUT_MS must be a whole number from 0 to 600000.'],
  ['RATE_LIMIT_REQUESTS', '1.5', 'RATE_LIMIT_REQUESTS must be a whole number from 0 to 1000000.'],
  ['RATE_LIMIT_TENANT_STARTS', 'many', 'RATE_LIMIT_TENANT_STARTS must be a whole number from 0 to 1000000.'],
  ['STREAMS_PER_TENANT', '0', 'STREAMS_PER_TENANT must be a whole number from 1 to 100000.'],
  ['STREAMS_TOTAL', '1.5', 'STREAMS_TOTAL must be a whole number from 1 to 1000000.'],
  ['UPLOAD_LIMIT_MB', '2', 'UPLOAD_LIMIT_MB must be a whole number from 4 to 100.'],
  ['STOP_DELAY_MS', '1s', 'STOP_DELAY_MS must be a whole number from 0 to 120000.'],
  ['QUEUE_LIMIT', '-1', 'QUEUE_LIMIT must be a whole number from 0 to 10000000.'],
  ['ENGINE', 'on', 'ENGINE must be inline, worker or off.'],
  ['ENGINE', 'off', 'DATABASE_URL is missing: with ENGINE=off, the processes share that database.'],
  ['API_THROUGH_NEXT', 'no', 'API_THROUGH_NEXT must be 1, 0, true or false.'],
  ['RATE_LIMIT_SHARED', 'yes', 'RATE_LIMIT_SHARED must be 1, 0, true or false.'],
])('%s=%s is rejected with one sentence that says what is valid', (name, value, message) => {
  expect(() => readEnv({ [name]: value })).toThrow(new EnvError(message))
})

test('one setting of a pair is rejected, and the sentence names the other', () => {
  expect(() => readEnv({ INNGEST_EVENT_KEY: 'only-half' })).toThrow(/^INNGEST_SIGNING_KEY is missing: /)
})

describe('INNGEST_DEV', () => {
  const keys = { INNGEST_EVENT_KEY: 'key', INNGEST_SIGNING_KEY: 'key' }

  test.each(['1', 'true', 'http://localhost:8288'])(
    '%s means Inngest, and is refused together with a key',
    (INNGEST_DEV) => {
      expect(readEnv({ INNGEST_DEV }).engine).toBe('inngest')
      expect(() => readEnv({ INNGEST_DEV, ...keys })).toThrow(/^INNGEST_DEV must not be set beside INNGEST_EVENT_KEY: /)
      expect(() => readEnv({ INNGEST_DEV, VERCEL: '1' })).toThrow(/^INNGEST_DEV must not be set on Vercel: /)
    },
  )

  test.each(['0', 'false', ''])('"%s" is off', (INNGEST_DEV) => {
    expect(readEnv({ INNGEST_DEV }).engine).toBe('embedded')
    expect(readEnv({ INNGEST_DEV, ...keys }).engine).toBe('inngest')
  })
})

describe('on Vercel', () => {
  const vercel = {
    VERCEL: '1',
    VERCEL_URL: 'app-abc123-team.vercel.app',
    VERCEL_BRANCH_URL: 'app-git-blue-team.vercel.app',
    VERCEL_PROJECT_PRODUCTION_URL: 'app.example.com',
    DATABASE_URL: 'postgres://pooled/db',
  }

  test('a preview is reached at the address of its branch, production at its own; each is its tokens’ audience', () => {
    const preview = readEnv({ ...vercel, VERCEL_ENV: 'preview' })
    expect(preview).toMatchObject({
      deployment: 'preview',
      PUBLIC_URL: 'https://app-git-blue-team.vercel.app',
      jwtAudience: 'app-git-blue-team.vercel.app',
    })
    const production = readEnv({ ...vercel, VERCEL_ENV: 'production' })
    expect(production).toMatchObject({
      deployment: 'production',
      PUBLIC_URL: 'https://app.example.com',
      jwtAudience: 'app.example.com',
    })
    const own = readEnv({ ...vercel, PUBLIC_URL: 'https://mine.example.com', JWT_AUDIENCE: 'mine' })
    expect(own).toMatchObject({ PUBLIC_URL: 'https://mine.example.com', jwtAudience: 'mine' })
    expect(readEnv({ DATABASE_URL: 'postgres://here/db' })).toMatchObject({
      deployment: null,
      jwtAudience: 'localhost',
    })
  })

  test('a process opens few connections, and LISTEN and migrations use the direct address where there is one', () => {
    expect(readEnv(vercel)).toMatchObject({ poolMax: 3, directUrl: 'postgres://pooled/db' })
    expect(readEnv({ DATABASE_URL: 'postgres://here/db' }).poolMax).toBe(10)
    const direct = readEnv({ ...vercel, DATABASE_URL_UNPOOLED: 'postgres://direct/db', DATABASE_POOL_MAX: '5' })
    expect(direct).toMatchObject({ poolMax: 5, directUrl: 'postgres://direct/db' })
  })

  test('a step ends before its function does, which the routes that take long ask for', () => {
    expect(readEnv(vercel).longestStepMs).toBeLessThan(LONGEST_CALL_ON_VERCEL_S * 1_000)
    expect(readEnv({}).longestStepMs).toBe(Number.POSITIVE_INFINITY)
    expect(readEnv({ ...vercel, MILLRACE_TEST_STEP_MS: '2000' }).longestStepMs).toBe(2_000)
    const long = ['inngest', 'chat', 'agents/[agentId]/invoke', 'tools/[toolId]/invoke', 'workflow/start/[workflowId]']
    for (const route of [...long, 'workflow/events/[runId]', 'trpc/[trpc]'])
      expect(readFileSync(`app/api/${route}/route.ts`, 'utf8')).toContain(
        `export const maxDuration = ${LONGEST_CALL_ON_VERCEL_S}\n`,
      )
  })

  test('a call that waits for a run or a model answers before the platform ends it', () => {
    const long = { SYNC_START_TIMEOUT_MS: '600000', AGENT_TIMEOUT_MS: '600000' }
    const { SYNC_START_TIMEOUT_MS, AGENT_TIMEOUT_MS, longestWaitMs } = readEnv({ ...vercel, ...long })
    for (const ms of [SYNC_START_TIMEOUT_MS, AGENT_TIMEOUT_MS, longestWaitMs])
      expect(ms).toBeLessThan(LONGEST_CALL_ON_VERCEL_S * 1_000)
    expect(readEnv(long)).toMatchObject({ SYNC_START_TIMEOUT_MS: 600_000, AGENT_TIMEOUT_MS: 600_000 })
    expect(readEnv({})).toMatchObject({ SYNC_START_TIMEOUT_MS: 50_000, longestWaitMs: 300_000 })
  })

  test('the build and a preview need no more than they say', () => {
    expect(() => readEnv({ VERCEL: '1' })).not.toThrow()
    expect(() => requirePlatform(readEnv({ VERCEL: '1' }))).toThrow(/^DATABASE_URL is required on Vercel/)
    expect(() => requirePlatform(readEnv(vercel))).toThrow(/^INNGEST_EVENT_KEY and INNGEST_SIGNING_KEY are required/)
  })
})

test('mails need one setting where the user at the server is an address, which is their sender then', () => {
  const url = 'smtps://tasks%40example.com:secret@mail.example.com'
  expect(readEnv({ SMTP_URL: url }).MAIL_FROM).toBe('tasks@example.com')
  expect(readEnv({ SMTP_URL: url, MAIL_FROM: 'Tasks <t@example.com>' }).MAIL_FROM).toBe('Tasks <t@example.com>')
  expect(readEnv({}).MAIL_FROM).toBeUndefined()
  expect(() => readEnv({ SMTP_URL: 'smtps://apikey:secret@mail.example.com' })).toThrow('MAIL_FROM is missing')
})

test.each(['off', 'worker'])('ENGINE=%s is rejected on Inngest, whose server decides where runs continue', (ENGINE) => {
  const inngest = { INNGEST_EVENT_KEY: 'key', INNGEST_SIGNING_KEY: 'key', DATABASE_URL: 'postgres://host/db' }
  expect(readEnv({ ...inngest, ENGINE: 'inline' }).engine).toBe('inngest')
  expect(() => readEnv({ ...inngest, ENGINE })).toThrow(/^ENGINE=\w+ applies only to the embedded engine\. /)
})
