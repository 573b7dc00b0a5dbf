'use client'
import { Button, FileInput, Group, NativeSelect, SegmentedControl, Stack, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Paperclip, Send, X } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { CodeBlock } from '@/app/_ui/code-block'
import { CodeEditor } from '@/app/_ui/code-editor'
import { encodedFile } from '@/app/_ui/files/encoded-file'
import { notifyError } from '@/app/_ui/notify'
import { Inline } from '@/app/_ui/prose'
import { ReasonButton } from '@/app/_ui/reason-button'
import { onSendKey } from '@/app/_ui/send-key'
import { succeeds, useOnce } from '@/app/_ui/use-once'
import { headersOf } from '@/app/reference/samples'
import type { JsonObject, JsonValue } from '@/server/definition/json'
import type { OpenApiDocument, Parameter } from '@/server/openapi/types'
import { ArgumentRows } from '../_arguments/argument-rows'
import { shapeOf } from '../_arguments/shape'
import { useOrigin } from '../_versioned/curl'
import { pretty, readObject } from '../_versioned/json'
import { useTenant } from '../tenant-context'
import {
  besideFile,
  bodyOf,
  type Call,
  curlOf,
  filledHeaders,
  filledPath,
  inFull,
  missing,
  parametersOf,
  takesFile,
} from './call'
import styles from './reference.module.css'
import { TryAnswer } from './try-answer'

/** Sends a call from the page as the signed-in user. Calls that may change data need confirmation. */
export function TryCall({ document, call, onClose }: { document: OpenApiDocument; call: Call; onClose: () => void }) {
  const trpc = useTRPC()
  const origin = useOrigin()
  const { id: tenantId } = useTenant()
  const id = call.operation.operationId
  const headers = headersOf(call, document)
  const [values, setValues] = useState<Values>({})
  const example = useMemo(() => bodyOf(call, document), [call, document])
  const [body, setBody] = useState(() => (example === null ? '' : pretty(example)))
  const [file, setFile] = useState<File | null>(null)
  const [asking, setAsking] = useState(false)
  const send = useMutation(trpc.reference.send.mutationOptions())
  const read = readObject(body)
  const sends = example !== null && body.trim() !== ''
  const path = filledPath(call, values)
  const fields = read.value && file ? besideFile(read.value) : read.value
  const [without] = missing(call, values)
  const obstacle = without
    ? `${without} is missing`
    : sends && read.problem !== undefined
      ? `Body: ${read.problem}`
      : null
  const changes = call.method !== 'GET'
  const sendIt = async () => {
    setAsking(false)
    const body = sends ? JSON.stringify(fields) : null
    const sent = file ? { file: await encodedFile(file) } : {}
    await succeeds(send.mutateAsync({ method: call.method, path, body, headers: filledHeaders(call, values), ...sent }))
    return false
  }
  const once = useOnce()
  const go = () => {
    once(sendIt).catch((error: unknown) => notifyError(error, 'The call was not sent'))
  }
  const submit = () => {
    if (obstacle !== null || send.isPending) return
    if (changes) setAsking(true)
    else go()
  }
  return (
    <section className={styles.try} aria-label={`Try ${call.operation.summary}`}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
        onKeyDown={onSendKey(submit)}
      >
        <ParameterFields parameters={parametersOf(call)} {...{ id, values, setValues }} />
        {headers.length > 0 && (
          <details>
            <summary>Headers</summary>
            <ParameterFields parameters={headers} {...{ id, values, setValues }} />
          </details>
        )}
        {example !== null && <Body call={call} document={document} text={body} onText={setBody} />}
        {takesFile(call) && (
          <FileInput
            label="File"
            description="With a file, the call is sent as a form: the file as attachment, and beside it the body."
            placeholder="Choose a file"
            leftSection={<Paperclip size={16} aria-hidden />}
            value={file}
            onChange={setFile}
            clearable
            clearButtonProps={{ 'aria-label': 'Remove the file' }}
          />
        )}
        {asking ? (
          <Question call={call} path={path} onSend={go} onCancel={() => setAsking(false)} />
        ) : (
          <Group>
            <ReasonButton
              type="submit"
              reason={obstacle}
              loading={send.isPending}
              leftSection={<Send size={16} aria-hidden />}
            >
              Send
            </ReasonButton>
            <Button variant="default" leftSection={<X size={16} aria-hidden />} onClick={onClose}>
              Close
            </Button>
            <span className={styles.quiet}>{changes ? 'Asks before it sends.' : 'Only reads.'}</span>
          </Group>
        )}
      </form>
      <TryAnswer answer={send.data ?? null} error={send.error} busy={send.isPending} />
      <div>
        <p className={styles.label}>The same call as curl</p>
        <CodeBlock
          label="curl"
          text={curlOf(call, {
            url: `${origin}${path}`,
            tenantId,
            headers: filledHeaders(call, values),
            body: sends ? bodyText(fields, body) : null,
            ...(file ? { file: file.name } : {}),
          })}
          wrap
        />
      </div>
    </section>
  )
}

type Values = Readonly<Record<string, string>>

function ParameterFields(props: {
  id: string
  parameters: Parameter[]
  values: Values
  setValues: (change: (now: Values) => Values) => void
}) {
  const { id, parameters, values, setValues } = props
  if (parameters.length === 0) return null
  return (
    <div className={styles.parameters}>
      {parameters.map((it) => (
        <ParameterField
          key={`${it.in}.${it.name}`}
          id={`try-${id}-${it.in}-${it.name}`}
          parameter={it}
          value={values[`${it.in}.${it.name}`] ?? ''}
          onChange={(value) => setValues((now) => ({ ...now, [`${it.in}.${it.name}`]: value }))}
        />
      ))}
    </div>
  )
}

function ParameterField(props: { id: string; parameter: Parameter; value: string; onChange: (value: string) => void }) {
  const { id, parameter, value, onChange } = props
  const { name, example, description, schema } = parameter
  const inPath = parameter.in === 'path'
  const shared = { id, label: name, description: <Inline text={description} />, required: inPath, value }
  if (schema.enum) {
    const data = ['', ...schema.enum.map(String)]
    return <NativeSelect {...shared} data={data} onChange={(event) => onChange(event.currentTarget.value)} />
  }
  return (
    <TextInput
      {...shared}
      placeholder={example === undefined ? '' : String(example)}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

/** The confirmation before a change. */
function Question(props: { call: Call; path: string; onSend: () => void; onCancel: () => void }) {
  const { call, path, onSend, onCancel } = props
  const { name: workspace } = useTenant()
  return (
    <div className={styles.question} role="alertdialog" aria-label="Send this call?" aria-describedby="try-question">
      <p id="try-question" className={styles.ask}>
        <code>
          {call.method} {path}
        </code>{' '}
        is a real call. It runs in <strong>{workspace}</strong> under your name, with the rights of your role. What it
        starts or changes is not undone.
      </p>
      <Group>
        <Button onClick={onSend} leftSection={<Send size={16} aria-hidden />}>
          Send it
        </Button>
        <Button variant="default" onClick={onCancel} ref={focused}>
          Cancel
        </Button>
      </Group>
    </div>
  )
}

/** Focuses the button that changes nothing. */
function focused(button: HTMLButtonElement | null): void {
  button?.focus({ preventScroll: true })
  button?.closest('[role="alertdialog"]')?.scrollIntoView({ block: 'nearest' })
}

function bodyText(value: JsonObject | undefined, text: string): string {
  return value === undefined ? text : JSON.stringify(value)
}

/** As fields if the schema names some, otherwise as JSON. */
function Body(props: { call: Call; document: OpenApiDocument; text: string; onText: (text: string) => void }) {
  const { call, document, text, onText } = props
  const shape = useMemo(() => {
    const { schema = {} } = call.operation.requestBody?.content['application/json'] ?? {}
    return shapeOf(JSON.parse(JSON.stringify(inFull(schema, document.components.schemas))) as JsonValue)
  }, [call, document])
  const hasFields = shape.kind === 'object' && shape.fields.length > 0
  const [asForm, setAsForm] = useState(hasFields)
  const { value, problem } = readObject(text)
  const form = asForm && hasFields && value !== undefined
  return (
    <div className={styles.form}>
      <Group justify="space-between">
        <span className={styles.label}>Body</span>
        {hasFields && (
          <SegmentedControl
            aria-label="Body as"
            size="xs"
            value={form ? 'form' : 'json'}
            onChange={(next) => setAsForm(next === 'form')}
            disabled={value === undefined}
            data={[
              { value: 'form', label: 'Form' },
              { value: 'json', label: 'JSON' },
            ]}
          />
        )}
      </Group>
      {form ? (
        <Stack gap="md">
          <ArgumentRows
            path=""
            shape={shape}
            value={value}
            onChange={(next) => onText(pretty(next))}
            problemAt={() => null}
            idOf={(path) => `try-${call.operation.operationId}-body-${path}`}
            readOnly={false}
          />
        </Stack>
      ) : (
        <CodeEditor label="Body" language="json" value={text} onChange={onText} minHeight="8rem" />
      )}
      {problem !== undefined && text.trim() !== '' && (
        <p className={styles.problem} role="alert">
          {problem}
        </p>
      )}
    </div>
  )
}
