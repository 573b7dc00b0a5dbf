'use client'
import { Button, Group, Kbd, Skeleton, Stack, Text, Textarea } from '@mantine/core'
import { useMounted } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'
import { errorOf } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { onSendKey } from '@/app/_ui/send-key'
import { useSingleKeys } from '@/app/_ui/use-single-keys'
import type { PauseSignal } from '@/server/definition/run'
import type { ShownHeld } from '@/server/views/tasks/held'
import type { TaskPeople } from '@/server/views/tasks/people'
import { useTenant } from '../../tenant-context'
import { MAX_FILE_BYTES, tooLargeText } from '../../workflows/start-values'
import { answerHeight } from './answer-height'
import { errorsByField, type Fields, REMARK, readDraft } from './answer-values'
import { FieldInput } from './field-input'
import { Held } from './held'
import { BARS } from './task-people'
import { useAnswer } from './use-answer'
import { useAnswerFiles } from './use-answer-files'
import { storageKeyOf, useKeptDraft } from './use-kept-draft'

interface Props {
  runId: string
  pauseId: string
  signal: PauseSignal
  /** Called when the pause was answered, here or elsewhere: reload its state. */
  onSettled: () => void
  /** Called after `onSettled` when the answer came from here. */
  onAnswered?: (held: boolean) => void
  /** Called when the answer was undone from the notification, on any page. */
  onUndone?: () => void
  /** Moves the focus to the first field: the user comes from the previous task. */
  focus?: boolean
  /** Why the user may not answer, besides their role. */
  bar?: TaskPeople['bar']
  /** An answer that this or another user can still undo. */
  held?: ShownHeld | null
  /** Lets digits choose an action. Only with a single task on screen. */
  keys?: boolean
}

/** A paused run's question, as a typed form or as buttons. */
export function AnswerForm(props: Props) {
  const { may } = useTenant()
  const ready = useMounted()
  if (!may('run:resume')) {
    return (
      <Text size="sm" c="dimmed">
        To answer, you need the role operator or higher.
      </Text>
    )
  }
  // Blocks input until drafts can be stored.
  if (!ready) return <Skeleton height={answerHeight(props.signal)} radius="md" />
  const { signal, bar = null, held = null } = props
  if (held) return <Held {...props} held={held} />
  if (bar) {
    return (
      <Stack gap="md">
        {signal.type === 'request_user_action' && (
          <Group gap="sm">
            {signal.actions.map(({ id, label }) => (
              <Button key={id} variant="default" disabled>
                {label}
              </Button>
            ))}
          </Group>
        )}
        <Text size="sm" c="dimmed">
          {BARS[bar]}
        </Text>
      </Stack>
    )
  }
  return signal.type === 'collect_inputs' ? (
    <InputsForm {...props} fields={signal.fields as unknown as Fields} />
  ) : (
    <Actions {...props} actions={signal.actions} />
  )
}

/** The limit of every comment. */
const MAX_CHARS = 5_000

function InputsForm(props: Props & { fields: Fields }) {
  const { runId, pauseId, fields } = props
  const { id } = useTenant()
  const answer = useAnswer(props)
  const { draft, change, forget, kept } = useKeptDraft(storageKeyOf(id, runId, pauseId), fields)
  const [errors, setErrors] = useState<Record<string, string>>({})
  const files = useAnswerFiles(props)
  const [sending, setSending] = useState(false)
  const [unsent, setUnsent] = useState<unknown>(null)
  const form = useRef<HTMLFormElement>(null)
  const { focus = false } = props
  useEffect(() => {
    if (focus) form.current?.querySelector<HTMLElement>('input, textarea, select')?.focus()
  }, [focus])
  const refused = answer.error ? errorsByField(errorOf(answer.error).details, fields) : null
  const busy = sending || answer.isPending
  const send = async () => {
    if (busy) return
    // A chosen file counts as a value: it is sent once all other fields are valid.
    const chosen = Object.keys(files.files).map((name) => [name, '[]'] as const)
    const read = readDraft(fields, { ...draft, ...Object.fromEntries(chosen) })
    const large = Object.entries(files.files).filter(([, all]) => all.some(({ size }) => size > MAX_FILE_BYTES))
    const wrong = { ...read.errors, ...Object.fromEntries(large.map(([name]) => [name, tooLargeText(1)])) }
    setErrors(wrong)
    setUnsent(null)
    if (Object.keys(wrong).length > 0) return
    setSending(true)
    const ids = await files.sendAll().finally(() => setSending(false))
    const body = { type: 'collect_inputs' as const, pauseId, data: { ...read.data, ...ids } }
    answer.mutate(
      { runId, body },
      {
        onSuccess: forget,
        onError: (error) => setErrors(errorsByField(errorOf(error).details, fields).byField),
      },
    )
  }
  const sendAll = () => void send().catch(setUnsent)
  return (
    <form
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        sendAll()
      }}
      onKeyDown={onSendKey(sendAll)}
    >
      <Stack gap="md">
        {Object.entries(fields).map(([name, field]) => (
          <FieldInput
            key={name}
            name={name}
            field={field}
            text={draft[name] ?? ''}
            error={errors[name]}
            disabled={busy}
            files={files.files[name] ?? []}
            onFiles={(chosen) => {
              files.choose(name, chosen)
              change(name, '')
              setErrors(({ [name]: _gone, ...rest }) => rest)
            }}
            onChange={(text) => {
              change(name, text)
              setErrors(({ [name]: _gone, ...rest }) => rest)
            }}
          />
        ))}
        {answer.error && (refused?.rest.length || Object.keys(refused?.byField ?? {}).length === 0) ? (
          <ErrorState error={answer.error} title="Your answer was not saved" />
        ) : null}
        {unsent !== null && <ErrorState error={unsent} title="The file was not sent" />}
        <Group gap="sm">
          <Button type="submit" loading={busy}>
            Submit
          </Button>
          <Text size="xs" c="dimmed" className="with-keyboard">
            <Kbd size="xs">Ctrl</Kbd> + <Kbd size="xs">Enter</Kbd>
          </Text>
          {kept && (
            <Text size="xs" c="dimmed">
              Your earlier text was kept
            </Text>
          )}
        </Group>
      </Stack>
    </form>
  )
}

function Actions(props: Props & { actions: { id: string; label: string }[] }) {
  const { runId, pauseId, actions, keys = false } = props
  const { id: tenantId } = useTenant()
  const answer = useAnswer(props)
  const { draft, change, forget } = useKeptDraft(storageKeyOf(tenantId, runId, pauseId), REMARK)
  const remark = draft.remark ?? ''
  const choose = (actionId: string) =>
    answer.mutate(
      { runId, body: { type: 'request_user_action', pauseId, actionId }, ...(remark.trim() === '' ? {} : { remark }) },
      { onSuccess: forget },
    )
  const digits = actions.slice(0, 9).map(({ id }, index) => [String(index + 1), () => choose(id)] as const)
  useSingleKeys(keys && !answer.isPending ? Object.fromEntries(digits) : {})
  return (
    <Stack gap="md">
      <Group gap="sm">
        {actions.map(({ id, label }, index) => (
          <Button
            key={id}
            variant={index === 0 ? 'filled' : 'default'}
            loading={answer.isPending && actionOf(answer.variables?.body) === id}
            disabled={answer.isPending}
            leftSection={
              keys && index < 9 ? (
                <Kbd size="xs" className="with-keyboard">
                  {index + 1}
                </Kbd>
              ) : undefined
            }
            onClick={() => choose(id)}
            aria-label={label}
          >
            {label}
          </Button>
        ))}
      </Group>
      {/* After the buttons: most decisions need no words. */}
      <Textarea
        aria-label="Remark"
        placeholder="Remark (optional)"
        value={remark}
        onChange={(event) => change('remark', event.currentTarget.value)}
        maxLength={MAX_CHARS}
        autosize
        minRows={1}
        maxRows={10}
        disabled={answer.isPending}
      />
      {answer.error && <ErrorState error={answer.error} title="Your decision was not saved" />}
    </Stack>
  )
}

function actionOf(body: unknown): string | undefined {
  return (body as { actionId?: string } | undefined)?.actionId
}
