import { expect, test } from 'vitest'
import { DatabaseUnavailable } from '@/db/index'
import { reasonOf, whenAvailable } from '@/db/wait'

const fault = (code: string, message: string) => Object.assign(new Error(message), { code })
const recovering = () => fault('57P03', 'the database system is starting up')

/** Fails with each of the faults in turn, then succeeds. */
function work(...faults: Error[]) {
  let calls = 0
  return async () => {
    const error = faults[calls++]
    if (error) throw error
    return calls
  }
}

test('work waits while the database is away, starting or recovering, and each new reason is reported once', async () => {
  const reasons: string[] = []
  const away = fault('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:5432')
  const wrapped = Object.assign(new Error('Failed query: select $1\nparams: secret'), { cause: recovering() })
  const faults = [away, wrapped, recovering(), fault('57P01', 'terminating connection'), fault('57P02', 'crashed')]
  expect(await whenAvailable(work(...faults), { onWait: (reason) => reasons.push(reason) })).toBe(6)
  expect(reasons).toEqual([
    'connect ECONNREFUSED 127.0.0.1:5432',
    'the database system is starting up',
    'terminating connection',
    'crashed',
  ])
})

test('patience runs out with the last reason', async () => {
  const waiting = whenAvailable(() => Promise.reject(recovering()), { patienceMs: 1_000, onWait() {} })
  await expect(waiting).rejects.toThrow(DatabaseUnavailable)
  await expect(waiting).rejects.toThrow(
    'The database could not be used within 1 s: the database system is starting up.',
  )
})

test('any other failure is thrown at once', async () => {
  const reasons: string[] = []
  const refused = fault('28P01', 'password authentication failed')
  await expect(whenAvailable(work(refused), { onWait: (reason) => reasons.push(reason) })).rejects.toBe(refused)
  expect(reasons).toEqual([])
})

test('a refused setting of the connection causes no wait: the next connection goes without it', async () => {
  const reasons: string[] = []
  const older = Object.assign(fault('42704', 'unrecognized configuration parameter "transaction_timeout"'), {
    severity: 'FATAL',
  })
  const pooler = fault('08P01', 'unsupported startup parameter: statement_timeout')
  const waiting = { onWait: (reason: string) => reasons.push(reason) }
  expect(await whenAvailable(work(older, pooler), waiting)).toBe(3)
  expect(reasons).toEqual([])
})

test('a stop ends the waiting', async () => {
  const stop = new AbortController()
  const waiting = whenAvailable(() => Promise.reject(recovering()), { onWait: () => stop.abort(), signal: stop.signal })
  await expect(waiting).rejects.toThrow(/aborted/)
})

test('when every address of a name refuses, an error without a message is reported by its code', () => {
  expect(reasonOf(Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }))).toBe('ECONNREFUSED')
})
