import { type Inngest, type InngestFunction, NonRetriableError } from 'inngest'

/** Records events, in order, by the tag of the scenario that caused them. The suite reads nothing else. */
export interface Journal {
  add(tag: unknown, entry: string): void
  of(tag: string): string[]
}

export function createJournal(): Journal {
  const entries = new Map<string, string[]>()
  return {
    add: (tag, entry) => void entries.set(String(tag), [...(entries.get(String(tag)) ?? []), entry]),
    of: (tag) => entries.get(tag) ?? [],
  }
}

/** Tiny functions, one per scenario, that use only features of both engines. */
export function conformanceFunctions(client: Inngest, { add, of }: Journal): InngestFunction.Any[] {
  const child = client.createFunction(
    { id: 'child', retries: 0, triggers: [{ event: 'c/child' }] },
    async ({ event, step }) => {
      if (event.data.fail) throw new NonRetriableError('the child fails')
      return await step.run('double', () => Number(event.data.n) * 2)
    },
  )
  return [
    child,
    client.createFunction(
      { id: 'sequence', retries: 0, triggers: [{ event: 'c/sequence' }] },
      async ({ event, step }) => {
        const { tag } = event.data
        let sum = 0
        for (let n = 1; n <= 20; n++) {
          sum += await step.run('add', () => {
            add(tag, `step ${n}`)
            return n
          })
        }
        await step.run('end', () => add(tag, `sum ${sum}`))
      },
    ),
    client.createFunction(
      { id: 'parallel', retries: 0, triggers: [{ event: 'c/parallel' }] },
      async ({ event, step }) => {
        const { tag } = event.data
        const first = await step.run('first', () => {
          add(tag, 'first')
          return 1
        })
        const parts = await Promise.all(
          [10, 20, 30].map((n) =>
            step.run(`part ${n}`, () => {
              add(tag, 'part')
              return n
            }),
          ),
        )
        await step.run('end', () => add(tag, `sum ${parts.reduce((a, b) => a + b, first)}`))
      },
    ),
    client.createFunction({ id: 'sleep', retries: 0, triggers: [{ event: 'c/sleep' }] }, async ({ event, step }) => {
      const from = await step.run('before', () => Date.now())
      await step.sleep('nap', '1s')
      await step.sleepUntil('until', new Date(from + 2000))
      await step.run('end', () => add(event.data.tag, Date.now() - from >= 2000 ? 'slept' : 'too early'))
    }),
    client.createFunction({ id: 'wait', retries: 0, triggers: [{ event: 'c/wait' }] }, async ({ event, step }) => {
      const { tag, timeout } = event.data
      const [found] = await Promise.all([
        step.waitForEvent('answer', { event: 'c/answer', timeout, if: 'event.data.tag == async.data.tag' }),
        step.run('open', () => add(tag, 'open')),
      ])
      await step.run('end', () => add(tag, found ? `answer ${found.data.value}` : 'timed out'))
    }),
    client.createFunction(
      {
        id: 'too-long',
        retries: 0,
        triggers: [{ event: 'c/too-long' }],
        onFailure: async ({ event, step }) => {
          await step.run('tell', () => add(event.data.event.data.tag, 'failed'))
        },
      },
      async ({ event, step }) => {
        const { tag, days, until } = event.data
        await step.waitForEvent('none', { event: 'c/never', timeout: days ?? new Date(until) })
        await step.run('end', () => add(tag, 'over'))
      },
    ),
    client.createFunction(
      { id: 'at-once', retries: 0, triggers: [{ event: 'c/at-once' }] },
      async ({ event, step }) => {
        const { tag } = event.data
        const [found] = await Promise.all([
          step.waitForEvent('answer', { event: 'c/nudge', timeout: '10m', match: 'data.tag' }),
          step.sendEvent('publish', { name: 'c/nudge', data: { tag } }),
        ])
        await step.run('end', () => add(tag, found ? 'heard' : 'missed'))
      },
    ),
    client.createFunction({ id: 'signal', retries: 0, triggers: [{ event: 'c/signal' }] }, async ({ event, step }) => {
      const { tag } = event.data
      const [found] = await Promise.all([
        step.waitForSignal('signal', { signal: `signal ${tag}`, timeout: '10m' }),
        step.run('open', () => add(tag, 'open')),
      ])
      await step.run('end', () => add(tag, `signal ${JSON.stringify(found?.data ?? null)}`))
    }),
    client.createFunction({ id: 'retry', retries: 3, triggers: [{ event: 'c/retry' }] }, async ({ event, step }) => {
      const { tag } = event.data
      await step.run('fine', () => add(tag, 'fine'))
      await step.run('flaky', () => {
        add(tag, 'try')
        if (tries(event.data.tag) < 3) throw new Error('try again')
      })
      await step.run('end', () => add(tag, 'end'))
    }),
    client.createFunction(
      {
        id: 'failing',
        retries: 1,
        triggers: [{ event: 'c/failing' }],
        onFailure: async ({ error, event, step }) => {
          const { tag } = event.data.event.data
          await step.run('tell', () => add(tag, `failed: ${error.message}`))
        },
      },
      async ({ event, step }) => {
        const { tag, how } = event.data
        await step.run('fine', () => add(tag, 'fine'))
        if (how === 'body') {
          add(tag, 'try')
          throw new Error('body')
        }
        await step.run('bad', () => {
          add(tag, 'try')
          if (how === 'final') throw new NonRetriableError('final')
          throw new Error('step')
        })
        add(tag, 'never')
      },
    ),
    client.createFunction({ id: 'caught', retries: 0, triggers: [{ event: 'c/caught' }] }, async ({ event, step }) => {
      const { tag } = event.data
      try {
        await step.run('bad', () => {
          add(tag, 'try')
          throw new Error('oh')
        })
      } catch (error) {
        await step.run('end', () => add(tag, `caught ${(error as Error).message}`))
      }
    }),
    client.createFunction(
      {
        id: 'cancellable',
        retries: 0,
        triggers: [{ event: 'c/cancellable' }],
        cancelOn: [{ event: 'c/cancel', if: 'event.data.tag == async.data.tag' }],
      },
      async ({ event, step }) => {
        const { tag, naps } = event.data
        if (naps) {
          await step.run('begin', () => add(tag, 'begin'))
          await step.sleep('nap', naps)
        } else {
          await step.run('slow', async () => {
            add(tag, 'begin')
            const from = Date.now()
            while (!of(tag).includes('let go') && Date.now() - from < 30_000) await pause(20)
            add(tag, 'slow done')
          })
        }
        await step.run('end', () => add(tag, 'end'))
      },
    ),
    client.createFunction(
      { id: 'hears-cancelled', retries: 0, triggers: [{ event: 'inngest/function.cancelled' }] },
      async ({ event, step }) => {
        await step.run('tell', () => add(event.data.event?.data?.tag, 'cancelled'))
      },
    ),
    client.createFunction(
      { id: 'invoker', retries: 0, triggers: [{ event: 'c/invoker' }] },
      async ({ event, step }) => {
        const { tag, fail } = event.data
        try {
          const doubled = await step.invoke('call', { function: child, data: { n: 21, fail } })
          await step.run('end', () => add(tag, `child ${doubled}`))
        } catch (error) {
          await step.run('failed', () => add(tag, `child failed: ${(error as Error).message}`))
        }
      },
    ),
    client.createFunction({ id: 'sender', retries: 0, triggers: [{ event: 'c/sender' }] }, async ({ event, step }) => {
      const { ids } = await step.sendEvent('send', { name: 'c/sent', data: { tag: event.data.tag } })
      await step.run('sent', () => add(event.data.tag, `sent ${ids.length}`))
    }),
    client.createFunction({ id: 'receiver', retries: 0, triggers: [{ event: 'c/sent' }] }, async ({ event, step }) => {
      await step.run('got', () => add(event.data.tag, 'got'))
    }),
    client.createFunction({ id: 'mixed', retries: 0, triggers: [{ event: 'c/mixed' }] }, async ({ event, step }) => {
      const { tag } = event.data
      const [ran, , found] = await Promise.all([
        step.run('run', () => 'ran'),
        step.sleep('nap', '1s'),
        step.waitForEvent('none', { event: 'c/never', timeout: '1s' }),
      ])
      await step.run('end', () => add(tag, `${ran} ${found}`))
    }),
    client.createFunction(
      { id: 'once', retries: 0, idempotency: 'event.data.key', triggers: [{ event: 'c/once' }] },
      async ({ event, step }) => {
        await step.run('run', () => add(event.data.tag, 'run'))
      },
    ),
    client.createFunction(
      { id: 'filtered', retries: 0, triggers: [{ event: 'c/filtered', if: "event.data.kind == 'yes'" }] },
      async ({ event, step }) => {
        await step.run('run', () => add(event.data.tag, 'run'))
      },
    ),
    client.createFunction(
      { id: 'one-at-a-time', retries: 0, concurrency: { limit: 1 }, triggers: [{ event: 'c/limited' }] },
      async ({ event, step }) => {
        await step.run('work', async () => {
          add(event.data.tag, 'begin')
          await new Promise((resolve) => setTimeout(resolve, 100))
          add(event.data.tag, 'end')
        })
      },
    ),
    client.createFunction(
      {
        id: 'one-per-key',
        retries: 0,
        concurrency: [{ key: 'event.data.key', limit: 1 }],
        triggers: [{ event: 'c/keyed' }],
      },
      async ({ event, step }) => {
        const { tag, after } = event.data
        await step.run('work', async () => {
          add(tag, 'begin')
          const from = Date.now()
          while (after && !of(after).includes('end') && Date.now() - from < 60_000) await pause(20)
          await pause(50)
          add(tag, 'end')
        })
      },
    ),
    client.createFunction(
      { id: 'hasty', retries: 0, timeouts: { finish: '3s' }, triggers: [{ event: 'c/hasty' }] },
      async ({ event, step }) => {
        await step.run('begin', () => add(event.data.tag, 'begin'))
        await step.sleep('long', '1h')
        await step.run('end', () => add(event.data.tag, 'end'))
      },
    ),
  ]
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const counts = new Map<unknown, number>()

function tries(tag: unknown): number {
  const count = (counts.get(tag) ?? 0) + 1
  counts.set(tag, count)
  return count
}
