'use client'
import { Button, Checkbox, Radio, Stack, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { notifyDone } from '@/app/_ui/notify'
import { ReasonButton } from '@/app/_ui/reason-button'
import { pathText } from '@/server/definition/json'
import type { ExpectedField } from '@/server/definition/test-case'
import styles from './test-cases.module.css'

/** One way to state the expectation. */
export interface Choice<E> {
  value: string
  label: string
  description?: string
  /** The user's input. */
  input?: ReactNode
  /** Null while it is incomplete. */
  expected: E | null
  /** The missing input. */
  wanted?: string
}

/** Asks for the name of a test case and what it expects. */
export function KeepDialog<E>(props: {
  onClose: () => void
  /** The default name. */
  name: string
  choices: readonly Choice<E>[]
  /** Explains what running it does. */
  note: string
  keep: (kept: { name: string; expected: E }) => Promise<unknown>
}) {
  const { onClose, choices, note } = props
  const [name, setName] = useState(props.name)
  const [chosen, setChosen] = useState(choices[0]?.value ?? '')
  const choice = choices.find(({ value }) => value === chosen)
  const keep = useMutation({
    mutationFn: props.keep,
    onSuccess: () => {
      onClose()
      notifyDone('Kept as a test case. It runs when someone publishes here.')
    },
  })
  const reason =
    name.trim() === '' ? 'Enter a name' : choice?.expected ? null : (choice?.wanted ?? 'Choose what is expected')
  return (
    <Dialog onClose={onClose} title="Keep as a test case" size="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (reason === null && choice?.expected) keep.mutate({ name, expected: choice.expected })
        }}
      >
        <Stack>
          <TextInput
            label="Name"
            required
            maxLength={200}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            data-autofocus
          />
          <Radio.Group label="Expected" value={chosen} onChange={setChosen}>
            <Stack gap="sm" mt="xs">
              {choices.map(({ value, label, description, input }) => (
                <div key={value}>
                  <Radio value={value} label={label} description={description} />
                  {value === chosen && input && <div className={styles.input}>{input}</div>}
                </div>
              ))}
            </Stack>
          </Radio.Group>
          <p className={styles.note}>{note}</p>
          {keep.error && <ErrorState error={keep.error} title="The test case was not kept" />}
          <DialogButtons>
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <ReasonButton type="submit" reason={reason} loading={keep.isPending}>
              Keep
            </ReasonButton>
          </DialogButtons>
        </Stack>
      </form>
    </Dialog>
  )
}

/** Chooses the result fields that must stay the same. */
export function FieldChoice(props: {
  fields: readonly ExpectedField[]
  chosen: readonly number[]
  onChange: (chosen: number[]) => void
}) {
  const { fields, chosen, onChange } = props
  return (
    <fieldset className={styles.fields} aria-label="Fields">
      {fields.map(({ path, value }, index) => (
        <Checkbox
          key={pathText(path)}
          checked={chosen.includes(index)}
          onChange={(event) =>
            onChange(
              event.currentTarget.checked
                ? [...chosen, index].sort((a, b) => a - b)
                : chosen.filter((one) => one !== index),
            )
          }
          label={
            <span>
              <span className="mono">{pathText(path)}</span>{' '}
              <span className={styles.note}>{JSON.stringify(value)}</span>
            </span>
          }
        />
      ))}
    </fieldset>
  )
}
