'use client'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { FailureCode } from '@/app/_ui/error-code'
import { ErrorState } from '@/app/_ui/error-state'
import { FilesOfText } from '@/app/_ui/files/file-value'
import { Duration, Time } from '@/app/_ui/time'
import type { JsonValue } from '@/server/definition/json'
import type { ReadCall } from '@/server/runs/find-call'
import type { ReadWholeValue } from '@/server/runs/whole-value'
import type { Shown } from '@/server/views/agents/read-thread'
import type { CallDetail } from '@/server/views/runs/calls'
import { costText, tokensText, triedText } from './call-text'
import styles from './calls.module.css'

type ToolDetail = Extract<CallDetail, { kind: 'tool' }>
type CallField = Extract<ReadWholeValue, { of: 'call' }>['field']

/** A call: what went in, what came out, its cost and its time. */
export function CallDetails({ call, at }: { call: CallDetail; at: ReadCall }) {
  const { title } = call
  const whole = (field: CallField): ReadWholeValue => ({ of: 'call', at, field })
  return (
    <div className={styles.details}>
      <dl className={styles.facts}>
        <Fact name="Began">
          <Time at={call.startedAt} absolute precise />
        </Fact>
        <Fact name="Took">
          <Duration from={call.startedAt} to={call.endedAt} />
        </Fact>
        {call.kind === 'model' && <ModelFacts call={call} />}
        {call.kind === 'tool' && call.decision && <Decision decision={call.decision} />}
      </dl>
      {call.kind === 'model' ? (
        <Text
          name="Answer"
          of={title}
          shown={call.text}
          whole={whole('text')}
          none="No text: the model only asked for calls."
        />
      ) : (
        <>
          <Text name="Arguments" of={title} shown={call.args} whole={whole('args')} />
          {call.decision?.changed && (
            <Text name="Changed arguments" of={title} shown={call.decision.changed} whole={whole('changed')} />
          )}
          <Text
            name={call.result.ok ? 'Result' : 'Error'}
            of={title}
            shown={call.result.output}
            whole={whole('result')}
            failed={!call.result.ok}
          />
        </>
      )}
    </div>
  )
}

function ModelFacts({ call }: { call: Extract<CallDetail, { kind: 'model' }> }) {
  return (
    <>
      {call.usage && (
        <Fact name="Tokens">{tokensText({ input: call.usage.inputTokens, output: call.usage.outputTokens })}</Fact>
      )}
      {call.cost !== null && <Fact name="Cost">{costText(call.cost)}</Fact>}
      {call.tried.length > 0 && <Fact name="Answered instead of">{call.tried.map(triedText).join(', ')}</Fact>}
      {call.errorCode && (
        <Fact name="Did not count">
          <FailureCode code={call.errorCode} />
        </Fact>
      )}
    </>
  )
}

function Decision({ decision: { approved, by, remark } }: { decision: NonNullable<ToolDetail['decision']> }) {
  return (
    <>
      <Fact name={approved ? 'Approved by' : 'Rejected by'}>{by.join(', ') || 'nobody: the time was up'}</Fact>
      {remark !== null && <Fact name="Remark">{remark}</Fact>}
    </>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** A text. Of a long one, only the start is loaded at first. */
function Text({
  name,
  of,
  shown: { text: start, cutFrom },
  whole,
  none,
  failed = false,
}: {
  name: string
  /** The name of the model or the tool. */
  of: string
  shown: Shown
  whole: ReadWholeValue
  none?: string
  failed?: boolean
}) {
  const trpc = useTRPC()
  const [all, setAll] = useState(false)
  const query = useQuery({
    ...trpc.runs.wholeValue.queryOptions(whole),
    enabled: all,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const text = query.data ? asText(query.data.value as JsonValue) : start
  return (
    <>
      <h3>{name}</h3>
      {text === '' && none !== undefined ? (
        <p className={styles.note}>{none}</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        <section className={styles.text} data-failed={failed || undefined} tabIndex={0} aria-label={`${name} of ${of}`}>
          <pre>{text}</pre>
        </section>
      )}
      {cutFrom !== null && !query.data && (
        <div className={styles.note}>
          Only the start is shown.{' '}
          <Button variant="default" size="compact-xs" loading={query.isFetching} onClick={() => setAll(true)}>
            Show all {cutFrom.toLocaleString('en')} characters
          </Button>
        </div>
      )}
      {query.error && <ErrorState error={query.error} onRetry={() => query.refetch()} />}
      <FilesOfText text={text} />
    </>
  )
}

/** As the start is written. */
function asText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}
