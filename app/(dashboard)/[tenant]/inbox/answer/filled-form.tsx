'use client'
import { Button, Group, Kbd, Stack, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { errorOf } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { MAX_FORM_BYTES } from '@/app/_ui/files/form-limit'
import { SendingFile } from '@/app/_ui/files/sending-file'
import { Locked } from '@/app/_ui/locked'
import { onSendKey } from '@/app/_ui/send-key'
import { useFirstFocus } from '@/app/_ui/use-first-focus'
import type { JsonObject } from '@/server/definition/json'
import { tooLargeText } from '../../workflows/start-values'
import { type Draft, errorsByField, type Fields, readDraft } from './answer-values'
import { FieldInput } from './field-input'
import type { useAnswer } from './use-answer'
import { useAnswerFiles } from './use-answer-files'

interface Props {
  runId: string
  pauseId: string
  fields: Fields
  draft: Draft
  change: (name: string, text: string) => void
  answer: ReturnType<typeof useAnswer>
  /** The answer with the values of the fields. */
  bodyOf: (data: JsonObject) => unknown
  onSent: () => void
  /** Whether the files of the answer are on their way. */
  onSending?: (sending: boolean) => void
  /** Whether what the form does not check may be sent; it shows why not. */
  mayBeSent?: () => boolean
  /** The server's messages that belong to none of the fields. Those returned are shown below the form. */
  onErrors?: (details: readonly { path?: string; message: string }[]) => void
  submit?: string
  /** Moves the focus to the first field. */
  focus?: boolean
  /** Between the fields and the button. */
  children?: ReactNode
  /** Beside the button. */
  aside?: ReactNode
}

/** The fields of a form or of an action, with their files, and the button that sends them. */
export function FilledForm(props: Props) {
  const { runId, fields, draft, change, answer, bodyOf, onSent, onSending, mayBeSent, onErrors } = props
  const [errors, setErrors] = useState<Record<string, string>>({})
  const files = useAnswerFiles(props)
  const [sending, setSending] = useState(false)
  const [unsent, setUnsent] = useState<unknown>(null)
  const form = useFirstFocus(props.focus ?? false)
  const refused = answer.error ? errorsByField(errorOf(answer.error).details, fields) : null
  const busy = sending || answer.isPending
  const send = async () => {
    if (busy) return
    // A chosen file counts as a value: it is sent once all other fields are valid.
    const chosen = Object.keys(files.files).map((name) => [name, '[]'] as const)
    const read = readDraft(fields, { ...draft, ...Object.fromEntries(chosen) })
    const most = files.limit ?? MAX_FORM_BYTES
    const large = Object.entries(files.files).filter(([, all]) => all.some(({ size }) => size > most))
    const wrong = { ...read.errors, ...Object.fromEntries(large.map(([name]) => [name, tooLargeText(1, files.limit)])) }
    setErrors(wrong)
    setUnsent(null)
    answer.reset()
    const others = mayBeSent?.() ?? true
    if (Object.keys(wrong).length > 0 || !others) return
    const show = (now: boolean) => {
      setSending(now)
      onSending?.(now)
    }
    show(true)
    try {
      const ids = await files.sendAll()
      if (ids) sendAnswer({ ...read.data, ...ids })
    } catch (error) {
      setUnsent(error)
    } finally {
      show(false)
    }
  }
  const sendAnswer = (data: JsonObject) =>
    answer.mutate(
      { runId, body: bodyOf(data) },
      {
        onSuccess: onSent,
        onError: (error) => {
          const { details } = errorOf(error)
          setErrors(errorsByField(details, fields).byField)
          onErrors?.(details)
        },
      },
    )
  return (
    <form
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
      onKeyDown={onSendKey(() => void send())}
    >
      <Stack gap="md">
        <Locked locked={busy}>
          {Object.entries(fields).map(([name, field]) => (
            <FieldInput
              key={name}
              name={name}
              field={field}
              text={draft[name] ?? ''}
              error={errors[name]}
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
          {props.children}
        </Locked>
        {answer.error && (refused?.rest.length || Object.keys(refused?.byField ?? {}).length === 0) ? (
          <ErrorState error={answer.error} title="Your answer was not saved" />
        ) : null}
        {unsent !== null && <ErrorState error={unsent} title="The file was not sent" />}
        <SendingFile {...files.progress} />
        <Group gap="sm">
          <Button type="submit" loading={busy}>
            {props.submit ?? 'Submit'}
          </Button>
          <Text size="xs" c="dimmed" className="with-keyboard">
            <Kbd size="xs">Ctrl</Kbd> + <Kbd size="xs">Enter</Kbd>
          </Text>
          {props.aside}
        </Group>
      </Stack>
    </form>
  )
}
