'use client'
import { Button, Group, Skeleton, Stack, Text } from '@mantine/core'
import { useMounted } from '@mantine/hooks'
import { useTenant } from '../../tenant-context'
import { answerHeight } from './answer-height'
import type { AnswerProps } from './answer-props'
import type { Fields } from './answer-values'
import { DecisionForm } from './decision-form'
import { FilledForm } from './filled-form'
import { Held } from './held'
import { BARS } from './task-people'
import { useAnswer } from './use-answer'
import { storageKeyOf, useKeptDraft } from './use-kept-draft'

/** A paused run's question, as a typed form or as buttons. */
export function AnswerForm(props: AnswerProps) {
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
    <DecisionForm {...props} signal={signal} />
  )
}

function InputsForm(props: AnswerProps & { fields: Fields }) {
  const { runId, pauseId, fields } = props
  const { id } = useTenant()
  const answer = useAnswer(props)
  const { draft, change, forget, kept } = useKeptDraft(storageKeyOf(id, runId, pauseId), fields)
  return (
    <FilledForm
      {...props}
      draft={draft}
      change={change}
      answer={answer}
      bodyOf={(data) => ({ type: 'collect_inputs', pauseId, data })}
      onSent={forget}
      aside={
        kept && (
          <Text size="xs" c="dimmed">
            Your earlier text was kept
          </Text>
        )
      }
    />
  )
}
