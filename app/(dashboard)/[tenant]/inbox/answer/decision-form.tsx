'use client'
import { Button, Group, Kbd, Stack, Text, Textarea } from '@mantine/core'
import { useMemo, useRef, useState } from 'react'
import { errorOf } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { useSingleKeys } from '@/app/_ui/use-single-keys'
import type { AskedAction, PauseSignal } from '@/server/definition/run'
import { useTenant } from '../../tenant-context'
import type { AnswerProps } from './answer-props'
import { type Draft, decisionFields, draftOfAction, type Fields, keyOfAction } from './answer-values'
import styles from './decision-form.module.css'
import { FilledForm } from './filled-form'
import { useAnswer } from './use-answer'
import { storageKeyOf, useKeptDraft } from './use-kept-draft'

/** The limit of every comment. */
const MAX_CHARS = 5_000

type Decision = Extract<PauseSignal, { type: 'request_user_action' }>

/** The actions to choose from, and a remark. An action with fields opens them in its place. */
export function DecisionForm(props: AnswerProps & { signal: Decision }) {
  const { runId, pauseId, signal, keys = false } = props
  const { actions } = signal
  const { id: tenantId } = useTenant()
  const answer = useAnswer(props)
  const [sending, setSending] = useState(false)
  const busy = sending || answer.isPending
  const fields = useMemo(() => decisionFields(actions), [actions])
  const { draft, change, forget, kept } = useKeptDraft(storageKeyOf(tenantId, runId, pauseId), fields)
  const remark = useRemark(signal, draft, change, answer.isPending)
  /** Opened here, rather than kept from an earlier visit: its first field gets the focus. */
  const [opened, setOpened] = useState(false)
  const open = actions.find(({ id, fields }) => fields && id === draft.chosen)
  const bodyOf = (actionId: string) => ({ type: 'request_user_action', pauseId, actionId, ...remark.given })
  const choose = ({ id, fields }: AskedAction) => {
    answer.reset()
    if (fields) {
      setOpened(true)
      return change('chosen', open?.id === id ? '' : id)
    }
    if (remark.check())
      answer.mutate(
        { runId, body: bodyOf(id) },
        { onSuccess: forget, onError: (error) => remark.onErrors(errorOf(error).details) },
      )
  }
  const digits = actions.slice(0, 9).map((action, index) => [String(index + 1), () => choose(action)] as const)
  useSingleKeys(keys && !busy ? Object.fromEntries(digits) : {})
  return (
    <Stack gap="md">
      <Group gap="sm">
        {actions.map((action, index) => (
          <Button
            key={action.id}
            variant={open ? (open === action ? 'light' : 'default') : index === 0 ? 'filled' : 'default'}
            loading={!open && answer.isPending && actionOf(answer.variables?.body) === action.id}
            disabled={busy}
            leftSection={
              keys && index < 9 ? (
                <Kbd size="xs" className="with-keyboard">
                  {index + 1}
                </Kbd>
              ) : undefined
            }
            onClick={() => choose(action)}
            aria-label={action.label}
            {...(action.fields ? { 'aria-expanded': open === action } : {})}
          >
            {action.label}
          </Button>
        ))}
      </Group>
      {open?.fields ? (
        <section className={styles.opened} aria-label={open.label}>
          <FilledForm
            key={open.id}
            runId={runId}
            pauseId={pauseId}
            fields={open.fields as unknown as Fields}
            draft={draftOfAction(draft, open.id)}
            change={(name, text) => change(keyOfAction(open.id, name), text)}
            answer={answer}
            bodyOf={(data) => ({ ...bodyOf(open.id), data })}
            onSent={forget}
            onSending={setSending}
            mayBeSent={remark.check}
            onErrors={remark.onErrors}
            submit={open.label}
            focus={opened}
            aside={
              <>
                <Button variant="subtle" color="gray" disabled={answer.isPending} onClick={() => change('chosen', '')}>
                  Cancel
                </Button>
                {kept && (
                  <Text size="xs" c="dimmed">
                    Your earlier text was kept
                  </Text>
                )}
              </>
            }
          >
            {remark.input}
          </FilledForm>
        </section>
      ) : (
        <>
          {/* After the buttons: most decisions need no words. */}
          {remark.input}
          {answer.error && !remark.error && <ErrorState error={answer.error} title="Your decision was not saved" />}
        </>
      )}
    </Stack>
  )
}

/** The remark's input, and what is sent of it. */
function useRemark(
  { remark: asks }: Decision,
  draft: Draft,
  change: (name: string, text: string) => void,
  busy: boolean,
) {
  const [error, setError] = useState<string | null>(null)
  const area = useRef<HTMLTextAreaElement>(null)
  const text = draft.remark ?? ''
  const isNeeded = asks === 'required'
  const refuse = (message: string) => {
    setError(message)
    area.current?.focus()
  }
  return {
    error,
    given: text.trim() === '' ? {} : { remark: text },
    check: () => {
      if (!isNeeded || text.trim() !== '') return true
      refuse('Required')
      return false
    },
    onErrors: (details: readonly { path?: string; message: string }[]) => {
      const wrong = details.find(({ path }) => path === 'remark')
      if (wrong) refuse(wrong.message)
    },
    input: (
      <Textarea
        ref={area}
        {...(isNeeded ? { label: 'Remark', withAsterisk: true } : { 'aria-label': 'Remark' })}
        aria-required={isNeeded}
        placeholder={isNeeded ? undefined : 'Remark (optional)'}
        value={text}
        error={error}
        onChange={(event) => {
          setError(null)
          change('remark', event.currentTarget.value)
        }}
        maxLength={MAX_CHARS}
        autosize
        minRows={1}
        maxRows={10}
        disabled={busy}
      />
    ),
  }
}

function actionOf(body: unknown): string | undefined {
  return (body as { actionId?: string } | undefined)?.actionId
}
