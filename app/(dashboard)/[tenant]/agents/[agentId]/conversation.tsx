'use client'
import { Loader } from '@mantine/core'
import { useEffect, useRef } from 'react'
import type { RouterOutput } from '@/app/_trpc/types'
import { ErrorState } from '@/app/_ui/error-state'
import { FilesOfText, FileValue, WithFileNames } from '@/app/_ui/files/file-value'
import { useFileSource } from '@/app/_ui/files/source'
import { Time } from '@/app/_ui/time'
import type { JsonObject } from '@/server/definition/json'
import { parseKeepingDigits } from '@/server/definition/long-numbers'
import { pretty } from '../../_versioned/json'
import { DATA_FOR_AGENT, type ShownAgent } from './agent-form'
import styles from './playground.module.css'
import { ToolCall } from './tool-call'
import { useExamples } from './use-examples'
import type { LiveTurn } from './use-turn'

export type Turn = RouterOutput['agents']['thread']['turns'][number]

/** Messages and tool calls, oldest first, including the turn in progress. */
export function Conversation(props: {
  agent: ShownAgent
  turns: Turn[]
  earlier: boolean
  live: LiveTurn | null
  /** People decide about the turn in progress. */
  waiting: boolean
  failed: unknown
  /** Null for users who may not write. */
  onExample: ((text: string) => void) | null
}) {
  const { agent, turns, earlier, live, waiting, failed, onExample } = props
  const log = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: follows what is said
  useEffect(() => {
    if (log.current) log.current.scrollTop = log.current.scrollHeight
  }, [turns.length, live?.message, live?.text, live?.calls.length, failed])
  const empty = turns.length === 0 && !live
  const examples = useExamples(agent, empty && onExample !== null)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <div ref={log} className={styles.said} role="log" aria-label="Conversation" tabIndex={0}>
      {earlier && <p className={styles.note}>Earlier messages are not shown.</p>}
      {empty && (
        <div className={styles.start}>
          <p>{onExample ? 'Write a message to start a thread.' : 'Choose a thread to see it here.'}</p>
          {onExample && examples.length > 0 && (
            <>
              <span className={styles.note}>Examples</span>
              {examples.map((message) => (
                <button key={message} type="button" className={styles.example} onClick={() => onExample(message)}>
                  {message}
                </button>
              ))}
            </>
          )}
        </div>
      )}
      {turns.map((turn) => (
        <article key={turn.seq} className={styles.turn}>
          <User text={turn.message} dataContext={turn.dataContext} files={turn.files} at={turn.at} />
          {turn.calls.map(({ id, name, input, result }) => (
            <ToolCall
              key={id}
              name={name}
              input={input.text}
              output={result && withCut(result.output)}
              state={result === null ? 'unknown' : result.ok ? 'ok' : 'failed'}
            />
          ))}
          <Answer text={turn.text} />
        </article>
      ))}
      {live && (
        <article className={styles.turn}>
          <User text={live.message} names={live.files} />
          {live.calls.map(({ id, name, args, result }) => (
            <ToolCall
              key={id}
              name={name}
              input={pretty(args)}
              output={result && pretty(result.value)}
              state={result === null ? 'busy' : result.ok ? 'ok' : 'failed'}
            />
          ))}
          {waiting ? null : live.text === '' ? (
            <span className={styles.thinking}>
              <Loader size={14} aria-hidden /> The agent is working
            </span>
          ) : (
            <Answer text={live.text} />
          )}
        </article>
      )}
      {failed !== null && <ErrorState error={failed} title="No answer" />}
    </div>
  )
}

interface Said {
  text: string
  dataContext?: object
  files?: Turn['files']
  /** Of files that nobody can open yet. */
  names?: string[]
  at?: string
}

function User({ text, dataContext, files = [], names = [], at }: Said) {
  return (
    <div className={styles.user}>
      <span className="visually-hidden">You said:</span>
      <div className={styles.words}>
        <WithFileNames text={text} />
      </div>
      <FilesOfText text={text} beside={files} />
      {files.map((file) => (
        <SentFile key={file.fileId} {...file} />
      ))}
      {names.length > 0 && <span className={styles.note}>With {names.join(', ')}</span>}
      {dataContext && Object.keys(dataContext).length > 0 && (
        <details className={styles.context}>
          <summary>{DATA_FOR_AGENT}</summary>
          <pre>{pretty(dataContext)}</pre>
          <FilesOfText text={pretty(dataContext)} />
        </details>
      )}
      {at && (
        <span className={styles.note}>
          <Time at={at} />
        </span>
      )}
    </div>
  )
}

function SentFile({ fileId, name }: { fileId: string; name: string }) {
  const isGone = useFileSource().useFile(fileId) === null
  if (isGone) return <span className={styles.note}>{name} is no longer kept</span>
  return <FileValue id={fileId}>{null}</FileValue>
}

/** Shows data as data and text as text. */
export function Answer({ text }: { text: string }) {
  const data = asData(text)
  return (
    <div className={styles.answer}>
      <span className="visually-hidden">The agent answered:</span>
      {data === null ? (
        <div className={styles.words}>
          <WithFileNames text={text} />
        </div>
      ) : (
        <pre className={styles.data}>{pretty(data)}</pre>
      )}
      <FilesOfText text={text} />
    </div>
  )
}

export function asData(text: string): JsonObject | null {
  if (!text.startsWith('{')) return null
  try {
    return parseKeepingDigits(text) as JsonObject
  } catch {
    return null
  }
}

function withCut({ text, cutFrom }: { text: string; cutFrom: number | null }): string {
  return cutFrom === null ? text : `${text}\n… cut here; the full text has ${cutFrom} characters`
}
