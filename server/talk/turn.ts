import { type Asking, type Conversed, converse, endOf, knownTurn, messageOf, openTurn } from '../agents/converse'
import type { LoadedAgent } from '../agents/find'
import { TurnTakenOver } from '../agents/journal/held-turn'
import type { KnownTurn } from '../agents/journal/read'
import { messageWithFiles, type SentMessage } from '../agents/message-files'
import type { ServiceContext } from '../context'
import type { UserMessage } from '../definition/agent'
import { mark } from '../interpreter/index'
import { asRun } from './as-run'
import { type Answer, awaitAnswer } from './await-run'

/**
 * The answer of a turn, or what people are asked about it.
 * @param known the turn of an earlier request with the same key
 */
export async function answerTo(
  ctx: ServiceContext,
  agent: LoadedAgent,
  asking: Asking,
  { known, signal }: { known: KnownTurn | null; signal: AbortSignal },
): Promise<Answer> {
  const since = mark()
  const ended =
    endOf(known) ??
    (await talk(ctx, agent, asking, { known, signal }).catch(async (err: unknown) => {
      // A run has taken the turn of the earlier request over in the meantime.
      const end = err instanceof TurnTakenOver ? endOf(await knownTurn(ctx)) : null
      if (!end) throw err
      return end
    }))
  return 'runId' in ended ? awaitAnswer(ctx, ended.runId, signal, since) : ended
}

async function talk(
  ctx: ServiceContext,
  agent: LoadedAgent,
  asking: Asking,
  options: { known: KnownTurn | null; signal: AbortSignal },
): Promise<Conversed> {
  const turn = await openTurn(ctx, agent, asking, options)
  return converse(ctx, turn, { signal: options.signal, asRun: (held) => asRun(ctx, held) })
}

/** What a request asks. The turn of an earlier one with the same key has its files already. */
export async function askedOf(ctx: ServiceContext, sent: SentMessage, known: KnownTurn | null): Promise<UserMessage> {
  return known?.asked ? messageOf(known.asked).userMessage : messageWithFiles(ctx, sent)
}
