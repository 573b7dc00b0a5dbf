'use client'
import { Button, Skeleton } from '@mantine/core'
import { skipToken, useQuery, useQueryClient } from '@tanstack/react-query'
import { CircleX, Hand, Plus } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { Link } from '@/app/_ui/link'
import { Notice } from '@/app/_ui/notice'
import type { JsonObject } from '@/server/definition/json'
import { AnswerSchema } from '../../_versioned/answer-schema'
import { sameJson } from '../../_versioned/json'
import type { OnScreen } from '../../_versioned/on-screen'
import { useTenant } from '../../tenant-context'
import type { AgentForm } from './agent-form'
import { Composer } from './composer'
import { asData, Conversation } from './conversation'
import { KeepThread } from './keep-thread'
import styles from './playground.module.css'
import { ResultPanel } from './result-panel'
import { ThreadList } from './thread-list'
import type { Talk } from './use-talk'

const WAITS_MS = 3_000

/** Talks to the agent on screen, saved or not: threads, the conversation, and the result. */
export function Playground({
  talk,
  onScreen,
  onSchema,
  compact = false,
}: {
  talk: Talk
  /** Null for users who may not change the agent. They talk to its versions. */
  onScreen: OnScreen<AgentForm> | null
  /** Sets the schema of the agent's answers. */
  onSchema?: (schema: JsonObject | null) => void
  /** In one column, without the list of threads, beside the form. */
  compact?: boolean
}) {
  const { agent, structured, threadId, open, turn, text, setText } = talk
  const trpc = useTRPC()
  const { may, path } = useTenant()
  const agentId = agent.id
  /** How many turns the thread had when the last message was sent. */
  const sentAfter = useRef(0)
  const thread = useQuery({
    ...trpc.agents.thread.queryOptions(threadId === null ? skipToken : { agentId, threadId }),
    refetchInterval: turn.waiting === null ? false : WAITS_MS,
  })
  const turns = threadId === null ? [] : (thread.data?.turns ?? [])
  const waiting = turns.length <= sentAfter.current ? turn.waiting : null
  const run = useQuery({
    ...trpc.runs.refresh.queryOptions(waiting && may('run:read') ? { runIds: [waiting.runId] } : skipToken),
    refetchInterval: WAITS_MS,
    select: ([item]) => item,
  })
  const hasFailed = waiting !== null && run.data != null && run.data.endTime !== null && run.data.state !== 'completed'
  const decided = turn.waiting !== null && waiting === null
  const queries = useQueryClient()
  const threads = trpc.agents.threads.pathKey()
  // biome-ignore lint/correctness/useExhaustiveDependencies: a thread has its title once its first turn is answered
  useEffect(() => {
    if (decided) queries.invalidateQueries({ queryKey: threads }).catch(() => {})
  }, [decided])
  const maySpeak = agent.status !== 'archived' && may('agent:invoke')
  const last = turns.at(-1) ?? null
  const answer = structured || agent.supervisor || !last ? null : asData(last.text)

  return (
    <div className={compact ? styles.compact : styles.playground}>
      <aside className={styles.threads} aria-label="Threads">
        {maySpeak && (
          <Button variant="default" leftSection={<Plus size={16} aria-hidden />} onClick={() => open(null)} fullWidth>
            New thread
          </Button>
        )}
        {!compact && <ThreadList agentId={agentId} chosen={threadId} onOpen={open} />}
      </aside>
      <section className={styles.talk} aria-label="Conversation">
        {thread.error && threadId !== null ? (
          <ErrorState error={thread.error} onRetry={() => thread.refetch()} title="The thread could not be loaded" />
        ) : threadId !== null && !thread.data && !turn.live ? (
          <Skeleton height={200} radius="md" />
        ) : (
          <Conversation
            agent={agent}
            turns={turns}
            earlier={thread.data?.earlier ?? false}
            live={turn.live ?? waiting?.said ?? null}
            waiting={waiting !== null}
            failed={turn.error}
            onExample={maySpeak ? setText : null}
          />
        )}
        {waiting && hasFailed && (
          <Notice tone="bad" icon={CircleX} title="The run ended without an answer">
            Send the message again, or retry the run. <Link href={path(`/runs/${waiting.runId}`)}>Open the run</Link>
          </Notice>
        )}
        {waiting && !hasFailed && (
          <Notice tone="warning" icon={Hand} title="People decide first">
            The agent waits for them. Its answer appears here once they have decided, unless its run fails.{' '}
            {waiting.isTest && 'A draft asks as a test: the inbox shows it with “Include test runs”. '}
            <Link href={path(`/runs/${waiting.runId}`)}>Open the run that waits</Link>
          </Notice>
        )}
        <Composer
          agent={agent}
          threadId={threadId}
          text={text}
          onText={setText}
          dataContext={talk.dataContext}
          onDataContext={talk.setDataContext}
          version={talk.version}
          onVersion={talk.setVersion}
          busy={turn.live !== null}
          files={talk.files}
          onFiles={talk.setFiles}
          onScreen={onScreen}
          onSend={(body) => {
            sentAfter.current = turns.length
            turn.send({ ...body, ...(threadId === null ? {} : { threadId }) }, talk.takeAll())
          }}
        />
      </section>
      <ResultPanel
        agent={agent}
        last={last}
        fresh={turn.result}
        outdated={turn.result?.draft != null && onScreen !== null && !sameJson(turn.result.draft, onScreen.form)}
        error={turn.error}
        busy={turn.live !== null}
      >
        {onScreen && onSchema && answer && (
          <AnswerSchema answer={answer} before={onScreen.form.outputSchema} onChange={onSchema} />
        )}
        {onScreen && threadId !== null && last && turn.live === null && (
          <KeepThread agentId={agentId} threadId={threadId} last={last} structured={structured} />
        )}
      </ResultPanel>
    </div>
  )
}
