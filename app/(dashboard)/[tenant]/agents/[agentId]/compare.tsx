'use client'
import { NativeSelect, Textarea } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Play } from 'lucide-react'
import { useRef, useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import type { RouterOutput } from '@/app/_trpc/types'
import { ErrorState } from '@/app/_ui/error-state'
import { ReasonButton } from '@/app/_ui/reason-button'
import { onSendKey } from '@/app/_ui/send-key'
import type { JsonObject } from '@/server/definition/json'
import { sameJson } from '../../_versioned/json'
import { ON_SCREEN, type OnScreen } from '../../_versioned/on-screen'
import { useTenant } from '../../tenant-context'
import type { Agent, AgentForm } from './agent-form'
import styles from './compare.module.css'
import { choicesOf, firstChoices, sameText } from './compare-versions'
import { Answer } from './conversation'
import { Facts } from './result-panel'

export interface CompareProps {
  agent: Agent
  /** Null for users who may not change the agent. They compare its versions. */
  onScreen: OnScreen<AgentForm> | null
}

/** One message, two versions of the agent: both answers beside each other with their cost. */
export function Compare({ agent, onScreen }: CompareProps) {
  const { may } = useTenant()
  const state = onScreen?.state ?? null
  const options = choicesOf(agent, state)
  const [versions, setVersions] = useState<readonly [string, string]>(() => firstChoices(agent, state))
  const same = sameText(agent, state, versions)
  const [message, setMessage] = useState('')
  const trpc = useTRPC()
  const cases = useQuery({ ...trpc.agents.cases.queryOptions({ id: agent.id }), enabled: agent.testCases > 0 })
  // Both get a single message, so cases with several messages are left out.
  const single = (cases.data ?? []).flatMap(({ id, name, given: { messages } }) =>
    messages[0] && messages.length === 1 ? [{ id, name, ...messages[0] }] : [],
  )
  const [caseId, setCaseId] = useState('')
  const chosen = single.find(({ id, message: said }) => id === caseId && said === message)
  const sides = [
    { name: 'First', ...useAnswer(agent.id) },
    { name: 'Second', ...useAnswer(agent.id) },
  ] as const
  const busy = sides.some(({ busy }) => busy)
  const seen = versions.includes(ON_SCREEN) ? onScreen : null
  const obstacle =
    agent.status === 'archived'
      ? 'Archived agents do not answer'
      : !may('agent:invoke')
        ? 'To ask it, you need the role operator or higher'
        : message.trim() === ''
          ? 'Write a message first'
          : (seen?.obstacle ?? null)
  const ask = () => {
    if (obstacle !== null || busy) return
    for (const [index, side] of sides.entries()) {
      const version = versions[index] ?? 'latest'
      const asked = { message, ...(chosen ? { dataContext: chosen.dataContext } : {}) }
      side.ask(version === ON_SCREEN && onScreen ? { ...asked, draft: onScreen.form } : { ...asked, version })
    }
  }
  return (
    <form
      className={styles.compare}
      aria-label="Compare"
      onSubmit={(event) => {
        event.preventDefault()
        ask()
      }}
    >
      <div className={styles.sides}>
        {sides.map(({ name, clear }, index) => (
          <NativeSelect
            key={name}
            label={name}
            value={versions[index]}
            disabled={busy}
            onChange={(event) => {
              const { value } = event.currentTarget
              setVersions(index === 0 ? [value, versions[1]] : [versions[0], value])
              clear()
            }}
            data={options}
          />
        ))}
      </div>
      {(single.length > 0 || cases.isLoading) && (
        <NativeSelect
          label="Test case"
          value={chosen?.id ?? ''}
          onChange={(event) => {
            const { value } = event.currentTarget
            setCaseId(value)
            setMessage(single.find(({ id }) => id === value)?.message ?? '')
          }}
          data={[
            { value: '', label: 'None: write a message' },
            ...single.map(({ id, name }) => ({ value: id, label: name })),
          ]}
        />
      )}
      <Textarea
        label="Message"
        description="Both get it as the first message of a conversation. No thread is kept."
        autosize
        minRows={2}
        maxRows={10}
        maxLength={200_000}
        value={message}
        onChange={(event) => setMessage(event.currentTarget.value)}
        onKeyDown={onSendKey(ask)}
      />
      <div className={styles.run}>
        <ReasonButton type="submit" reason={obstacle} loading={busy} leftSection={<Play size={16} aria-hidden />}>
          Ask both
        </ReasonButton>
        {same !== null && <span className={styles.note}>{same}</span>}
      </div>
      <div className={styles.sides}>
        {sides.map((side, index) => (
          <section key={side.name} className={styles.side} aria-label={`${side.name} answer`}>
            <h2>
              {side.name}: {options.find(({ value }) => value === versions[index])?.label}
            </h2>
            <Side side={side} wanted={agent.model.provider} form={onScreen?.form ?? null} />
          </section>
        ))}
      </div>
    </form>
  )
}

type Asked = { message: string; dataContext?: JsonObject } & ({ version: string } | { draft: AgentForm })

function useAnswer(agentId: string) {
  const trpc = useTRPC()
  const mutation = useMutation(trpc.agents.answerOnce.mutationOptions())
  const begun = useRef(0)
  const [ms, setMs] = useState<number | null>(null)
  const [draft, setDraft] = useState<AgentForm | null>(null)
  return {
    answer: mutation.data ?? null,
    error: mutation.error,
    busy: mutation.isPending,
    ms,
    /** The agent that answered, if it was the one on screen. */
    draft,
    clear: mutation.reset,
    ask: (body: Asked) => {
      begun.current = performance.now()
      setMs(null)
      setDraft('draft' in body ? body.draft : null)
      mutation.mutate({ agentId, body }, { onSettled: () => setMs(performance.now() - begun.current) })
    },
  }
}

function Side(props: { side: ReturnType<typeof useAnswer>; wanted: string; form: AgentForm | null }) {
  const { side, wanted, form } = props
  if (side.busy) return <p className={styles.note}>Waiting for the answer.</p>
  if (side.error) return <ErrorState error={side.error} title="No answer" />
  if (!side.answer) return <p className={styles.note}>The answer appears here, with its tokens and its cost.</p>
  const { text, metadata }: RouterOutput['agents']['answerOnce'] = side.answer
  return (
    <>
      {side.draft && form && !sameJson(side.draft, form) && (
        <p className={styles.note} role="status">
          From before your latest changes. Ask again.
        </p>
      )}
      <Answer text={text} />
      <Facts metadata={{ ...metadata } as JsonObject} ms={side.ms} wanted={wanted} />
    </>
  )
}
