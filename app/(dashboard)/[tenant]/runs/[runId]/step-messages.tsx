'use client'
import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { FieldsView } from '@/app/_ui/fields-view'
import { FilesOfText, WithFileNames } from '@/app/_ui/files/file-value'
import { parseKeepingDigits } from '@/server/definition/long-numbers'
import type { Call, Shown, Turn } from '@/server/views/agents/read-thread'
import { ToolCall } from '../../agents/[agentId]/tool-call'
import styles from './step-messages.module.css'

/** The conversation of a step that used an agent, and the agent's tool calls. */
export function StepMessages({ runId, seq }: { runId: string; seq: number }) {
  const trpc = useTRPC()
  const query = useQuery(trpc.runs.conversation.queryOptions({ runId, seq }))
  if (query.error && !query.data) return <ErrorState error={query.error} onRetry={() => query.refetch()} />
  if (!query.data) return <Skeleton height={160} radius="md" />
  const { turns } = query.data
  if (turns.length === 0) return <p className={styles.note}>The messages of this step have been deleted.</p>
  return turns.map((turn) => <Message key={turn.seq} turn={turn} />)
}

function Message({ turn }: { turn: Turn }) {
  const data = asObject(turn.text)
  return (
    <div className={styles.turn}>
      <h3>Message</h3>
      <p className={styles.words}>
        <WithFileNames text={turn.message} />
      </p>
      <FilesOfText text={[turn.message, ...(turn.files ?? []).map(({ fileId }) => fileId)].join(' ')} />
      {Object.keys(turn.dataContext).length > 0 && (
        <details className={styles.context}>
          <summary>Data for the agent</summary>
          <FieldsView value={turn.dataContext} label="Data for the agent" />
        </details>
      )}
      {turn.calls.map((call) => (
        <ToolCall
          key={call.id}
          name={call.name}
          input={whole(call.input)}
          output={call.result && whole(call.result.output)}
          state={stateOf(call)}
        />
      ))}
      <h3>Answer</h3>
      {data ? (
        <FieldsView value={data} label="Answer" />
      ) : (
        <>
          <p className={styles.words}>
            <WithFileNames text={turn.text} />
          </p>
          <FilesOfText text={turn.text} />
        </>
      )}
    </div>
  )
}

function stateOf({ result }: Call) {
  return result === null ? 'unknown' : result.ok ? 'ok' : 'failed'
}

function whole({ text, cutFrom }: Shown): string {
  return cutFrom === null ? text : `${text}\n… cut here; the full text has ${cutFrom} characters`
}

/** Structured answers are JSON objects. */
function asObject(text: string): object | null {
  if (!text.startsWith('{')) return null
  try {
    return parseKeepingDigits(text) as object
  } catch {
    return null
  }
}
