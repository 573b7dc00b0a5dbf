'use client'
import { CircleCheck, CircleX } from 'lucide-react'
import type { ReactNode } from 'react'
import { errorOf } from '@/app/_trpc/client'
import { CopyButton } from '@/app/_ui/copy-button'
import { WhatToDo } from '@/app/_ui/error-code'
import { JsonView } from '@/app/_ui/json-view'
import { asSentence } from '@/app/_ui/sentence'
import { durationText } from '@/app/_ui/time-text'
import type { JsonObject, JsonValue } from '@/server/definition/json'
import { pretty } from '../../_versioned/json'
import type { ShownAgent } from './agent-form'
import { asData, type Turn } from './conversation'
import styles from './playground.module.css'
import type { TurnResult } from './use-turn'

/** The result of the last message: its data, whether it matches the schema, the version and the duration. */
export function ResultPanel(props: {
  agent: ShownAgent
  /** The last turn of the thread on screen. */
  last: Turn | null
  /** The result of the last turn made on this page. */
  fresh: TurnResult | null
  /** The agent has changed since, so the result no longer applies. */
  outdated: boolean
  error: unknown
  busy: boolean
  /** Further actions. */
  children?: ReactNode
}) {
  const { agent, last, fresh, outdated, error, busy, children } = props
  const structured = agent.outputSchema !== null && !agent.supervisor
  const data = fresh ? fresh.data : last && structured ? asData(last.text) : null
  const metadata = (fresh?.metadata ?? last?.metadata ?? null) as JsonObject | null
  const failure = error === null ? null : errorOf(error)
  return (
    <aside className={styles.result} aria-label="Result">
      <h2 className={styles.title}>{structured ? 'Structured result' : 'Result'}</h2>
      {failure ? (
        <>
          <p className={styles.bad}>
            <CircleX size={16} aria-hidden />
            <span>
              {failure.code === 'OUTPUT_SCHEMA_MISMATCH' ? 'Does not match the schema' : failure.message}{' '}
              <WhatToDo code={failure.code} />
            </span>
          </p>
          {failure.details.length > 0 && (
            <dl className={styles.facts}>
              {failure.details.map(({ path, message }) => (
                <div key={`${path} ${message}`}>
                  <dt className="mono">{path ?? '—'}</dt>
                  <dd>{asSentence(message)}</dd>
                </div>
              ))}
            </dl>
          )}
        </>
      ) : busy ? (
        <p className={styles.note}>Waiting for the answer.</p>
      ) : metadata === null ? (
        <p className={styles.note}>
          {structured
            ? 'The answer’s data appears here, checked against the schema.'
            : 'How the agent got to its answer appears here.'}
        </p>
      ) : (
        <>
          {outdated && (
            <p className={styles.note} role="status">
              From before your latest changes. Send the message again.
            </p>
          )}
          {data && (
            <>
              {!outdated && (
                <p className={styles.good}>
                  <CircleCheck size={16} aria-hidden /> Matches the schema
                  {metadata.repaired === true && ', after one correction'}
                </p>
              )}
              <div className={styles.json}>
                <JsonView value={data} label="Structured result" />
                <CopyButton text={pretty(data)} label="Copy the result" />
              </div>
            </>
          )}
          <Facts metadata={metadata} ms={fresh?.ms ?? null} wanted={agent.model.provider} />
        </>
      )}
      {children}
    </aside>
  )
}

function modelText({ modelId, fallback }: JsonObject): string {
  return fallback === true ? `${modelId}, a fall-back` : String(modelId)
}

/** An answer's facts: version, model, tokens and cost. */
export function Facts({ metadata, ms, wanted }: { metadata: JsonObject; ms: number | null; wanted: string }) {
  const usage = (metadata.usage ?? {}) as JsonObject
  const scripted = metadata.provider === 'scripted'
  const facts: [string, JsonValue | undefined | null][] = [
    ['Took', ms === null ? null : durationText(ms)],
    ['Version', metadata.draft === true ? `Draft, based on version ${metadata.version}` : metadata.version],
    ['Model', scripted ? 'Scripted, offline' : modelText(metadata)],
    ['Tool calls', metadata.toolCalls],
    ['Tokens', usage.totalTokens],
    ['Cost', metadata.cost ?? (scripted ? null : 'no price is set for the model')],
  ]
  const warnings = Array.isArray(metadata.warnings) ? metadata.warnings : []
  return (
    <>
      <dl className={styles.facts}>
        {facts.map(([name, value]) =>
          value === undefined || value === null ? null : (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{String(value)}</dd>
            </div>
          ),
        )}
      </dl>
      {scripted && (
        <p className={styles.note}>
          {wanted === 'scripted' ? 'The' : 'This agent’s model has no key, so the'} built-in offline model answered. It
          follows fixed rules and understands nothing.
        </p>
      )}
      {warnings.map((warning) => (
        <p key={String(warning)} className={styles.note}>
          {String(warning)}
        </p>
      ))}
    </>
  )
}
