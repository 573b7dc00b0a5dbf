import { Worker } from 'node:worker_threads'
import { processWide } from '@/db/process-wide'
import { BARE } from '../../sandbox/thread'
import { Turns, type Waiting } from '../../sandbox/turns'

/** The text of a PDF, or why it has no text. */
export type PdfText =
  | { text: string; pages: number; cut: boolean }
  | { problem: 'damaged' | 'locked' | 'too slow' | 'too large' | 'busy' }

const MAX_MS = 15_000
const MAX_PAGES = 1_000
const MAX_MEMORY_MB = 192
/** How many PDFs a process reads at a time, each in a thread of its own. */
const AT_ONCE = 2
/** How many more may wait, of all tenants together. */
const MAX_WAITING = 20

interface Job extends Waiting {
  begin(mayRead: boolean): void
}

const queue = () =>
  processWide('pdf-texts', () => ({
    running: 0,
    turns: new Turns<Job>({ scripts: MAX_WAITING, chars: Number.POSITIVE_INFINITY }),
  }))

/**
 * Reads the text of a PDF in a thread, so that a large or hostile one neither holds the event loop nor takes more than
 * its share of time and memory. Tenants take turns.
 * @param read gets the PDF when it is its turn, so that those that wait are not held
 * @param maxChars of the text; what follows is cut
 */
export async function readPdfText(
  tenantId: string,
  read: () => Promise<Uint8Array>,
  { maxChars, maxMs = MAX_MS, maxPages = MAX_PAGES }: { maxChars: number; maxMs?: number; maxPages?: number },
): Promise<PdfText> {
  if (!(await myTurn(tenantId))) return { problem: 'busy' }
  try {
    return await inThread({ bytes: await read(), maxChars, maxPages }, maxMs)
  } finally {
    next()
  }
}

/** @returns false if too many wait, most of them of this tenant */
function myTurn(tenantId: string): Promise<boolean> {
  const all = queue()
  if (all.running < AT_ONCE) {
    all.running++
    return Promise.resolve(true)
  }
  return new Promise((resolve) => {
    for (const refused of all.turns.add({ tenantId, chars: 0, begin: resolve })) refused.begin(false)
  })
}

/** Passes the place on. */
function next(): void {
  const all = queue()
  const job = all.turns.take(() => true)
  if (job) job.begin(true)
  else all.running--
}

function inThread(workerData: object, maxMs: number): Promise<PdfText> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(new URL('./pdf-worker.mjs', import.meta.url), {
      name: 'pdf-text',
      ...BARE,
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 },
    })
    const end = (found: PdfText | Error) => {
      clearTimeout(timer)
      void thread.terminate()
      if (found instanceof Error) reject(found)
      else resolve(found)
    }
    const timer = setTimeout(() => end({ problem: 'too slow' }), maxMs)
    thread.on('message', end)
    thread.on('error', (err: NodeJS.ErrnoException) =>
      end(err.code === 'ERR_WORKER_OUT_OF_MEMORY' ? { problem: 'too large' } : err),
    )
    thread.on('exit', () => end(new Error('the thread that reads a PDF ended')))
    // A timer keeps the process alive, a worker need not.
    thread.unref()
  })
}
