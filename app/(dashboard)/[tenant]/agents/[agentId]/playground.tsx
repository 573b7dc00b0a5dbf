'use client'
import { Button, Skeleton } from '@mantine/core'
import { skipToken, useQuery, useQueryClient } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { useUrlState } from '@/app/_ui/use-url-state'
import { sameJson } from '../../_versioned/json'
import { ON_SCREEN, type OnScreen } from '../../_versioned/on-screen'
import { useTenant } from '../../tenant-context'
import type { Agent, AgentForm, ShownAgent } from './agent-form'
import { Composer } from './composer'
import { Conversation } from './conversation'
import { KeepThread } from './keep-thread'
import styles from './playground.module.css'
import { ResultPanel } from './result-panel'
import { ThreadList } from './thread-list'
import { useTurn } from './use-turn'

/** A place to talk to the agent as it is on the screen, saved or not: threads, the conversation, and the result. */
export function Playground({
  agent: saved,
  onScreen,
  compact = false,
}: {
  agent: Agent
  /** Null for people who may not change the agent. They talk to its versions. */
  onScreen: OnScreen<AgentForm> | null
  /** In one column and without the list of threads, beside the form. */
  compact?: boolean
}) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const url = useUrlState()
  const { may } = useTenant()
  const [version, setVersion] = useState(onScreen ? ON_SCREEN : 'latest')
  const seen = version === ON_SCREEN ? onScreen : null
  const agent: ShownAgent = seen ? { ...saved, ...seen.form } : saved
  const [text, setText] = useState('')
  const [dataContext, setDataContext] = useState('')
  const threadId = url.get('thread') || null
  const agentId = agent.id
  const structured = agent.outputSchema !== null && !agent.supervisor
  const thread = useQuery(trpc.agents.thread.queryOptions(threadId === null ? skipToken : { agentId, threadId }))
  const turn = useTurn({
    agentId,
    structured,
    onThread: async (id) => {
      // Loaded before it is shown, so that nothing flickers between the live turn and the saved one.
      await queries
        .fetchQuery({ ...trpc.agents.thread.queryOptions({ agentId, threadId: id }), staleTime: 0 })
        .catch(() => {})
      url.set({ thread: id })
      queries.invalidateQueries({ queryKey: trpc.agents.threads.pathKey() }).catch(() => {})
    },
    // A failed turn is not saved in the thread, so the text goes back to the input.
    onFailed: (message) => setText((now) => (now === '' ? message : now)),
  })
  const open = (id: string | null) => {
    turn.clear()
    url.set({ thread: id })
  }
  const turns = threadId === null ? [] : (thread.data?.turns ?? [])
  const maySpeak = agent.status !== 'archived' && may('agent:invoke')
  const last = turns.at(-1) ?? null

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
            live={turn.live}
            failed={turn.error}
            onExample={maySpeak ? setText : null}
          />
        )}
        <Composer
          agent={agent}
          threadId={threadId}
          text={text}
          onText={setText}
          dataContext={dataContext}
          onDataContext={setDataContext}
          version={version}
          onVersion={setVersion}
          busy={turn.live !== null}
          onScreen={onScreen}
          onSend={(body) => {
            setText('')
            turn.send({ ...body, ...(threadId === null ? {} : { threadId }) })
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
        {onScreen && threadId !== null && last && turn.live === null && (
          <KeepThread agentId={agentId} threadId={threadId} last={last} structured={structured} />
        )}
      </ResultPanel>
    </div>
  )
}
