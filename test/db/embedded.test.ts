import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@/db/embedded'
import { openDatabase } from '@/db/index'
import { accountFor, canReach } from '@/db/postgres/account'
import { findBinaries } from '@/db/postgres/binaries'
import { isAlive, isPostmaster, readPidFile } from '@/db/postgres/postmaster'
import { temporaryDir } from '../support/postgres'
import { rounds } from '../support/rounds'

vi.setConfig({ testTimeout: 60_000 }) // each creates a cluster

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const asRoot = process.getuid?.() === 0
const run = promisify(execFile)

const homes: string[] = []
const template = temporaryDir()
afterAll(() => rmSync(template, { recursive: true, force: true, maxRetries: 5 }))
const servers: EmbeddedPostgres[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop()
  for (const home of homes.splice(0)) rmSync(home, { recursive: true, force: true, maxRetries: 5 })
})

/** A directory for a cluster, optionally closed to other accounts. */
function place(mode = 0o755): string {
  const home = temporaryDir()
  chmodSync(home, mode)
  homes.push(home)
  return join(home, 'data', 'postgres')
}

let ready: Promise<string> | undefined
/** A place with a cluster that is ready to start: a copy, since creating one takes a second of CPU. */
async function readyPlace(): Promise<string> {
  ready ??= (async () => {
    const dataDir = join(template, 'data', 'postgres')
    await (await startEmbeddedPostgres({ dataDir, log: () => {} })).stop()
    return dataDir
  })()
  const dataDir = place()
  mkdirSync(dirname(dataDir), { recursive: true })
  // Unlike Node's own copy, this keeps the owner.
  await run('cp', ['-a', await ready, dataDir])
  return dataDir
}

async function start(dataDir: string): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir, log: () => {} })
  servers.push(server)
  return server
}

async function query(server: EmbeddedPostgres, text: string): Promise<Record<string, unknown>[]> {
  const { sql, close } = openDatabase(server.url, { max: 2 })
  try {
    return [...(await sql.unsafe(text))]
  } finally {
    await close()
  }
}

async function gone(pid: number): Promise<void> {
  await expect.poll(() => isAlive(pid), { interval: 5 }).toBe(false)
}

describe('a first start', () => {
  test('creates a database owned by a role that is not a superuser, on a private socket without a port', async () => {
    const dataDir = place()
    const server = await start(dataDir)
    expect(server.adopted).toBe(false)
    const [row] = await query(
      server,
      `select current_user, current_database(), current_setting('listen_addresses') as listens,
              current_setting('fsync') as fsync, (select rolsuper or rolbypassrls from pg_roles where rolname = current_user) as mighty`,
    )
    expect(row).toEqual({
      current_user: 'millrace',
      current_database: 'millrace',
      listens: '',
      fsync: 'on',
      mighty: false,
    })
    expect(statSync(dataDir).mode & 0o777).toBe(0o700)
    expect(statSync(join(dataDir, '.s.PGSQL.5432')).mode & 0o777).toBe(0o700)
  })

  test.runIf(asRoot)('as root, runs the server as another user', async () => {
    const server = await start(place())
    expect(statSync(`/proc/${server.pid}`).uid).not.toBe(0)
  })

  test.runIf(asRoot)('as root, works below a directory that the other user may not enter', async () => {
    const dataDir = place(0o700)
    const server = await start(dataDir)
    await query(server, 'create table kept (x int)')
    await server.stop()
    const again = await start(dataDir)
    expect(await query(again, 'select count(*)::int as n from kept')).toEqual([{ n: 0 }])
    expect((await start(dataDir)).adopted).toBe(true)
  })

  test.runIf(asRoot && existsSync('/usr/bin/setpriv'))(
    'as the root of a container, who may not look into other processes',
    async () => {
      const dataDir = place(0o700)
      const child = [process.execPath, '--import', 'tsx', join(ROOT, 'test/db/embedded-child.ts'), dataDir]
      const { stdout } = await run('setpriv', ['--bounding-set=-sys_ptrace', ...child], { cwd: ROOT })
      expect(stdout.trim()).toBe('started adopted stopped')
    },
  )

  test('works where the socket’s path would be too long', async () => {
    const dataDir = join(place(), 'x'.repeat(120), 'postgres')
    const server = await start(dataDir)
    expect(await query(server, 'select 1 as x')).toEqual([{ x: 1 }])
    expect((await start(dataDir)).adopted).toBe(true)
    rmSync(new URL(server.url).searchParams.get('host') ?? '', { recursive: true, force: true })
  })

  test('that died while creating the cluster is completed by the next start', async () => {
    const dataDir = place()
    mkdirSync(join(dataDir, '..'), { recursive: true })
    mkdirSync(`${dataDir}.new-4194301-abc`)
    writeFileSync(`${dataDir}.new-4194301-abc/half`, '')
    await start(dataDir)
    expect(existsSync(`${dataDir}.new-4194301-abc`)).toBe(false)
  })

  test('refuses a directory that contains something else', async () => {
    const dataDir = place()
    mkdirSync(dataDir, { recursive: true })
    writeFileSync(join(dataDir, 'letter.txt'), 'dear')
    await expect(start(dataDir)).rejects.toThrow(/is not empty and holds no database/)
    expect(readFileSync(join(dataDir, 'letter.txt'), 'utf8')).toBe('dear')
  })

  test('refuses a cluster of another major version', async () => {
    const dataDir = await readyPlace()
    writeFileSync(join(dataDir, 'PG_VERSION'), '12\n')
    await expect(start(dataDir)).rejects.toThrow(/was written by Postgres 12, and this is Postgres 18/)
  })
})

describe('a user other than root', () => {
  const DAEMON = 1
  const reachable =
    asRoot && canReach(ROOT, { uid: DAEMON, gid: DAEMON }) && canReach(process.execPath, { uid: DAEMON, gid: DAEMON })

  /** Starts, adopts and stops a server in a process of that user. */
  async function asDaemon(dataDir: string): Promise<string> {
    const child = join(ROOT, 'test/db/embedded-child.ts')
    const { stdout } = await run(process.execPath, ['--import', 'tsx', child, dataDir], {
      cwd: ROOT,
      uid: DAEMON,
      gid: DAEMON,
      env: { PATH: '/usr/bin:/bin', HOME: '/nonexistent' } as unknown as NodeJS.ProcessEnv,
    })
    return stdout.trim()
  }

  test.runIf(reachable)(
    'starts, adopts and stops a cluster of its own, which root then runs as that user',
    async () => {
      const dataDir = place()
      mkdirSync(join(dataDir, '..'))
      chownSync(join(dataDir, '..'), DAEMON, DAEMON)
      expect(await asDaemon(dataDir)).toBe('started adopted stopped')
      expect(statSync(dataDir).uid).toBe(DAEMON)
      const server = await start(dataDir)
      expect(statSync(`/proc/${server.pid}`).uid).toBe(DAEMON)
      expect(await query(server, 'select x from child')).toEqual([{ x: 1 }])
    },
  )

  test.runIf(reachable)('names the owner of a cluster that it may not read', async () => {
    const dataDir = await readyPlace()
    await expect(asDaemon(dataDir)).rejects.toThrow(/belongs to another user/)
  })
})

describe('a running server', () => {
  test('is adopted by any number of starts, and any of them can stop it', async () => {
    const dataDir = await readyPlace()
    const first = await start(dataDir)
    const others = await Promise.all([1, 2, 3].map(() => start(dataDir)))
    expect(others.map(({ pid, adopted }) => ({ pid, adopted }))).toEqual(
      others.map(() => ({ pid: first.pid, adopted: true })),
    )
    await others[0]?.stop()
    await first.exited
    expect(isAlive(first.pid)).toBe(false)
  })

  test('is shared by simultaneous starts, even on a new directory', async () => {
    const dataDir = place()
    const all = await Promise.all([1, 2, 3].map(() => start(dataDir)))
    expect(new Set(all.map(({ pid }) => pid)).size).toBe(1)
    expect(all.filter(({ adopted }) => !adopted)).toHaveLength(1)
  })

  test('keeps a second server from opening its directory', async () => {
    const dataDir = await readyPlace()
    await start(dataDir)
    const account = accountFor(dataDir)
    const { postgres } = await findBinaries(account)
    const second = run(postgres, ['-D', dataDir, '-c', 'listen_addresses='], { ...account, cwd: dataDir })
    await expect(second).rejects.toThrow(/lock file "postmaster.pid" already exists/)
  })

  test('outlives the process that started it', async () => {
    const dataDir = await readyPlace()
    const child = spawn(
      process.execPath,
      ['--import', 'tsx', join(ROOT, 'test/db/embedded-child.ts'), dataDir, 'stay'],
      {
        cwd: ROOT,
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    await new Promise((done) => child.stdout.once('data', done))
    child.kill('SIGKILL')
    await new Promise((done) => child.once('exit', done))
    const pid = readPidFile(dataDir)?.pid ?? 0
    expect(isPostmaster(pid, dataDir)).toBe(true)
    const server = await start(dataDir)
    expect(server).toMatchObject({ adopted: true, pid })
  })
})

describe('stop', () => {
  test('ends open sessions, frees the socket and loses nothing', async () => {
    const dataDir = await readyPlace()
    const server = await start(dataDir)
    const { sql, close } = openDatabase(server.url, { max: 2 })
    await sql`create table kept as select 1 as x`
    const open = sql`select pg_sleep(60)`.catch(() => 'ended')
    const startedAt = Date.now()
    await server.stop()
    await server.exited
    expect(Date.now() - startedAt).toBeLessThan(45_000)
    expect(await open).toBe('ended')
    expect(existsSync(join(dataDir, '.s.PGSQL.5432'))).toBe(false)
    await close()
    expect(await query(await start(dataDir), 'select x from kept')).toEqual([{ x: 1 }])
    await server.stop() // a second stop does nothing
  })
})

describe('a killed server', () => {
  test('is restarted, even if another process has its process number now', async () => {
    const dataDir = await readyPlace()
    const server = await start(dataDir)
    process.kill(server.pid, 'SIGKILL')
    await gone(server.pid)
    const stranger: ChildProcess = spawn('sleep', ['60'])
    const pidFile = join(dataDir, 'postmaster.pid')
    writeFileSync(pidFile, readFileSync(pidFile, 'utf8').replace(/^\d+/, String(stranger.pid)))
    const again = await start(dataDir)
    expect(again).toMatchObject({ adopted: false })
    expect(stranger.exitCode).toBe(null)
    stranger.kill()
  })

  test('during writes loses nothing it acknowledged, many times over', async () => {
    const dataDir = await readyPlace()
    let server = await start(dataDir)
    const { sql, close } = openDatabase(server.url, { max: 6, deadlineMs: 30_000 })
    await sql`create table writes (id text primary key)`
    const acknowledged: string[] = []
    let writing = true
    const writers = [1, 2, 3, 4].map(async (writer) => {
      for (let n = 0; writing; n++) {
        const id = `${writer}-${n}`
        await sql`insert into writes values (${id})`.then(
          () => acknowledged.push(id),
          () => new Promise((done) => setTimeout(done, 5)),
        )
      }
    })
    for (let round = 0; round < rounds(3, 12); round++) {
      const before = acknowledged.length
      await expect.poll(() => acknowledged.length, { interval: 5 }).toBeGreaterThan(before + 20)
      process.kill(server.pid, 'SIGKILL')
      server = await start(dataDir)
    }
    writing = false
    await Promise.all(writers)
    const found = new Set((await sql<{ id: string }[]>`select id from writes`).map(({ id }) => id))
    expect(acknowledged.filter((id) => !found.has(id))).toEqual([])
    expect(acknowledged.length).toBeGreaterThan(60)
    await close()
  })
})
