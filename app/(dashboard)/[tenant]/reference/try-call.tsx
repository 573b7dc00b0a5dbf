'use client'
import { Button, Group, NativeSelect, SegmentedControl, Stack, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Send, X } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { CodeBlock } from '@/app/_ui/code-block'
import { CodeEditor } from '@/app/_ui/code-editor'
import { ReasonButton } from '@/app/_ui/reason-button'
import { onSendKey } from '@/app/_ui/send-key'
import { Inline } from '@/app/reference/prose'
import type { JsonObject, JsonValue } from '@/server/definition/json'
import type { OpenApiDocument, Parameter } from '@/server/openapi/types'
import { ArgumentRows } from '../_arguments/argument-rows'
import { shapeOf } from '../_arguments/shape'
import { useOrigin } from '../_versioned/curl'
import { pretty, readObject } from '../_versioned/json'
import { useTenant } from '../tenant-context'
import { acceptOf, bodyOf, type Call, curlOf, filledPath, inFull, missing, parametersOf } from './call'
import styles from './reference.module.css'
import { TryAnswer } from './try-answer'

/** Sends a call from the page, as the person who is signed in. What may change something is asked about first. */
export function TryCall({ document, call, onClose }: { document: OpenApiDocument; call: Call; onClose: () => void }) {
  const trpc = useTRPC()
  const origin = useOrigin()
  const id = call.operation.operationId
  const parameters = parametersOf(call)
  const [values, setValues] = useState<Record<string, string>>({})
  const example = useMemo(() => bodyOf(call, document), [call, document])
  const [body, setBody] = useState(() => (example === null ? '' : pretty(example)))
  const [asking, setAsking] = useState(false)
  const send = useMutation(trpc.reference.send.mutationOptions())
  const read = readObject(body)
  const sends = example !== null && body.trim() !== ''
  const path = filledPath(call, values)
  const [without] = missing(call, values)
  const obstacle = without
    ? `${without} is missing`
    : sends && read.problem !== undefined
      ? `Body: ${read.problem}`
      : null
  const changes = call.method !== 'GET'
  const go = () => {
    setAsking(false)
    const accept = acceptOf(call)
    const headers = accept === null ? {} : { headers: { accept } }
    send.mutate({ method: call.method, path, body: sends ? JSON.stringify(read.value) : null, ...headers })
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
        {parameters.length > 0 && (
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
        )}
        {example !== null && <Body call={call} document={document} text={body} onText={setBody} />}
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
          text={curlOf(call, `${origin}${path}`, sends ? bodyText(read.value, body) : null)}
          wrap
        />
      </div>
    </section>
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

/** Before anything is changed. */
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

/** Of the two answers, the one that changes nothing. */
function focused(button: HTMLButtonElement | null): void {
  button?.focus({ preventScroll: true })
  button?.closest('[role="alertdialog"]')?.scrollIntoView({ block: 'nearest' })
}

function bodyText(value: JsonObject | undefined, text: string): string {
  return value === undefined ? text : JSON.stringify(value)
}

/** As fields if the schema names some, else as JSON. */
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
