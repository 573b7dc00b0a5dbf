'use client'
import { Button, Group, NativeSelect, Textarea } from '@mantine/core'
import { Paperclip, Send } from 'lucide-react'
import dynamic from 'next/dynamic'
import { type Dispatch, type SetStateAction, useRef, useState } from 'react'
import { CodeEditor } from '@/app/_ui/code-editor'
import { CopyButton } from '@/app/_ui/copy-button'
import { ForDevelopers } from '@/app/_ui/for-developers'
import { inPlace, loadPart } from '@/app/_ui/part'
import { onSendKey } from '@/app/_ui/send-key'
import { curl, useOrigin } from '../../_versioned/curl'
import { readObject } from '../../_versioned/json'
import { ON_SCREEN, type OnScreen, onScreenLabel, testsText } from '../../_versioned/on-screen'
import { useTenant } from '../../tenant-context'
import { agentCurl } from '../agent-curl'
import { type AgentForm, DATA_FOR_AGENT, type ShownAgent } from './agent-form'
import styles from './playground.module.css'
import type { Attached, TurnBody } from './use-turn'

/** Loaded only once there are files. */
const Attachments = dynamic(() => loadPart(() => import('./attachments').then((module) => module.Attachments)), {
  loading: inPlace(null),
})

export function Composer(props: {
  agent: ShownAgent
  threadId: string | null
  text: string
  onText: (text: string) => void
  dataContext: string
  onDataContext: (text: string) => void
  version: string
  onVersion: (version: string) => void
  files: Attached[]
  onFiles: Dispatch<SetStateAction<Attached[]>>
  busy: boolean
  onScreen: OnScreen<AgentForm> | null
  onSend: (body: TurnBody) => void
}) {
  const {
    agent,
    threadId,
    text,
    onText,
    dataContext,
    onDataContext,
    version,
    onVersion,
    files,
    onFiles,
    busy,
    onSend,
  } = props
  const seen = version === ON_SCREEN ? props.onScreen : null
  const { may, id: tenantId } = useTenant()
  const origin = useOrigin()
  const [withData, setWithData] = useState(false)
  const chooser = useRef<HTMLInputElement>(null)
  const read = dataContext.trim() === '' ? { value: {} } : readObject(dataContext)
  const unread = read.value === undefined ? `${DATA_FOR_AGENT}: ${read.problem}` : null
  const problem = unread ?? seen?.obstacle ?? null
  const data = read.value && Object.keys(read.value).length > 0 ? { dataContext: read.value } : {}
  const structured = agent.outputSchema !== null && !agent.supervisor
  const named = seen || version === 'latest' ? {} : { version }
  const command = curl({
    origin,
    tenantId,
    ...agentCurl(
      { id: agent.id, structured, supervisor: agent.supervisor },
      { message: text.trim() || 'Hello', ...(threadId === null ? {} : { threadId }), ...named, ...data },
    ),
  })
  if (agent.status === 'archived') return <p className={styles.note}>This agent is archived and does not answer.</p>
  if (!may('agent:invoke'))
    return <p className={styles.note}>You can read conversations. To write, you need the role operator or higher.</p>
  const isComplete = text.trim() !== '' && files.every(({ fileId }) => fileId !== null)
  const send = () => {
    if (busy || problem || !isComplete) return
    onSend({ message: text, ...(seen ? { draft: seen.form } : { version }), ...data })
  }
  return (
    <form
      className={styles.composer}
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <div className={styles.message}>
        <Textarea
          label="Message"
          placeholder="Write to the agent"
          autosize
          minRows={2}
          maxRows={10}
          maxLength={200_000}
          value={text}
          onChange={(event) => onText(event.currentTarget.value)}
          onKeyDown={onSendKey(send)}
        />
        <Button type="submit" leftSection={<Send size={16} aria-hidden />} loading={busy} disabled={!isComplete}>
          Send
        </Button>
      </div>
      {files.length > 0 && <Attachments files={files} onFiles={onFiles} />}
      {withData && (
        <div>
          <div className={styles.label}>{DATA_FOR_AGENT}</div>
          <p className={styles.note}>What the agent and its tools may read besides the message, as JSON.</p>
          <CodeEditor
            label={DATA_FOR_AGENT}
            language="json"
            value={dataContext}
            onChange={onDataContext}
            placeholder={'{ "customer": "A-17" }'}
            minHeight="4rem"
          />
        </div>
      )}
      {problem && (withData || !unread) && <p className={styles.problem}>{problem}</p>}
      <Group gap="sm">
        <NativeSelect
          aria-label="Version"
          value={version}
          onChange={(event) => onVersion(event.currentTarget.value)}
          data={[
            ...(props.onScreen ? [{ value: ON_SCREEN, label: onScreenLabel(props.onScreen.state) }] : []),
            { value: 'latest', label: `Latest (version ${agent.version})` },
            ...(agent.publishedVersion === null
              ? []
              : [{ value: 'published', label: `Published (version ${agent.publishedVersion})` }]),
          ]}
        />
        <input
          ref={chooser}
          type="file"
          multiple
          hidden
          aria-label="Files for the message"
          onChange={({ currentTarget }) => {
            const chosen = [...(currentTarget.files ?? [])]
            onFiles((now) => [...now, ...chosen.map((file) => ({ file, fileId: null, problem: null }))])
            // So that the same file can be chosen again.
            currentTarget.value = ''
          }}
        />
        <Button
          variant="subtle"
          color="gray"
          leftSection={<Paperclip size={16} aria-hidden />}
          onClick={() => chooser.current?.click()}
        >
          Attach files
        </Button>
        <Button variant="subtle" color="gray" onClick={() => setWithData(!withData)} aria-expanded={withData}>
          {DATA_FOR_AGENT}
        </Button>
      </Group>
      <span className={styles.note}>
        {seen && `${testsText(seen.state, agent.version)} `}
        <span className="with-keyboard">Send with Ctrl or ⌘ + Enter.</span>
      </span>
      <ForDevelopers>
        {!structured && (
          <p className={styles.note}>
            This agent answers in text, so its messages go to POST /api/chat
            {agent.supervisor && ', as for all supervisors'}.
          </p>
        )}
        <div>
          <CopyButton text={command}>Copy curl</CopyButton>
        </div>
      </ForDevelopers>
    </form>
  )
}
