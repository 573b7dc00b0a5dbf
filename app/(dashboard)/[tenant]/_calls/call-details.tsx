'use client'
import type { ReactNode } from 'react'
import { FailureCode } from '@/app/_ui/error-code'
import { FilesOfText } from '@/app/_ui/files/file-value'
import { Duration, Time } from '@/app/_ui/time'
import type { Shown } from '@/server/views/agents/read-thread'
import type { CallDetail } from '@/server/views/runs/calls'
import { costText, tokensText, triedText } from './call-text'
import styles from './calls.module.css'

type ToolDetail = Extract<CallDetail, { kind: 'tool' }>

/** A call in a run: what went in, what came out, its cost and its time. */
export function CallDetails({ call }: { call: CallDetail }) {
  const { title } = call
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
        <Text name="Answer" of={title} shown={call.text} none="No text: the model only asked for calls." />
      ) : (
        <>
          <Text name="Arguments" of={title} shown={call.args} />
          {call.decision?.changed && <Text name="Changed arguments" of={title} shown={call.decision.changed} />}
          <Text
            name={call.result.ok ? 'Result' : 'Error'}
            of={title}
            shown={call.result.output}
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
      <Fact name={approved ? 'Approved by' : 'Rejected by'}>{by ?? 'nobody: the time was up'}</Fact>
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

function Text({
  name,
  of,
  shown,
  none,
  failed = false,
}: {
  name: string
  /** The name of the model or the tool. */
  of: string
  shown: Shown
  none?: string
  failed?: boolean
}) {
  const { text, cutFrom } = shown
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
      {cutFrom !== null && (
        <p className={styles.note}>Only the start is shown; it has {cutFrom.toLocaleString('en')} characters.</p>
      )}
      <FilesOfText text={text} />
    </>
  )
}
