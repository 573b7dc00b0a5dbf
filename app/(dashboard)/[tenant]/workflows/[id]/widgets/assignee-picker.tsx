'use client'
import { Combobox, Pill, PillsInput, useCombobox } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { TriangleAlert } from 'lucide-react'
import { type KeyboardEvent, useEffect, useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { useTenant } from '../../../tenant-context'
import { choicesFrom, choicesWith, isAbout, labelOf, ROLE_CHOICES, typedAssignee } from '../model/assignees'
import styles from './assignee-picker.module.css'
import { type ScopeEntry, useScope } from './scope-context'
import { ScopeEntryLine } from './scope-entry'
import { findEntries } from './scope-search'
import { inputProps, type WidgetProps } from './widget'

/** Marks the option that adds the typed text. */
const TYPED = ' typed'
const MAX_SHOWN = 50
const MAX_VALUES = 20

/** People, groups and roles, chosen by name; an address or an expression is taken as typed. */
export function AssigneePicker(props: WidgetProps & { values: string[]; onValues: (next: string[]) => void }) {
  const { field, values, onValues, problems, readOnly } = props
  const trpc = useTRPC()
  const { may } = useTenant()
  const known = useQuery({
    ...trpc.workflows.assignable.queryOptions(),
    enabled: may('workflow:write'),
    staleTime: 30_000,
  }).data
  const scope = useScope()
  const [text, setText] = useState('')
  const combobox = useCombobox({ onDropdownClose: () => combobox.resetSelectedOption() })
  const typed = typedAssignee(text)

  function add(assignee: string | null) {
    if (assignee !== null && !values.includes(assignee)) onValues([...values, assignee])
    setText('')
  }
  function onKeyDown(event: KeyboardEvent) {
    if (event.key === 'Backspace' && text === '' && !readOnly) onValues(values.slice(0, -1))
    // Escape closes only the list, not the sheet around it.
    else if (event.key === 'Escape' && combobox.dropdownOpened) {
      event.stopPropagation()
      event.nativeEvent.stopImmediatePropagation()
      combobox.closeDropdown()
    }
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: the first match is marked whenever the list changes
  useEffect(() => {
    if (combobox.dropdownOpened && text !== '') combobox.selectFirstOption()
  }, [text, known, combobox.dropdownOpened])
  const { placeholder, ...shared } = inputProps(props)

  return (
    <Combobox
      store={combobox}
      onOptionSubmit={(chosen) => add(chosen === TYPED ? typed : chosen)}
      position="bottom-start"
      shadow="md"
      readOnly={readOnly}
      withinPortal
    >
      <Combobox.DropdownTarget>
        <PillsInput {...shared} onClick={() => !readOnly && combobox.openDropdown()}>
          <Pill.Group>
            {values.map((value) => (
              <Chip
                key={value}
                value={value}
                label={labelOf(value, known)}
                wrong={problems.some((problem) => isAbout(problem, value))}
                onRemove={readOnly ? null : () => onValues(values.filter((one) => one !== value))}
              />
            ))}
            <Combobox.EventsTarget withExpandedAttribute>
              <PillsInput.Field
                id={shared.id}
                placeholder={values.length === 0 ? placeholder : undefined}
                value={text}
                readOnly={readOnly}
                spellCheck={false}
                onChange={(event) => {
                  setText(event.currentTarget.value)
                  combobox.openDropdown()
                }}
                onFocus={() => {
                  scope.target.current = { insert: (name) => add(`user:\${${name}}`) }
                }}
                onBlur={() => {
                  combobox.closeDropdown()
                  // Half a name is nobody's.
                  if (isWhole(text)) add(typed)
                  else setText('')
                }}
                onKeyDown={onKeyDown}
              />
            </Combobox.EventsTarget>
          </Pill.Group>
        </PillsInput>
      </Combobox.DropdownTarget>
      {!readOnly && (
        <Combobox.Dropdown>
          <Combobox.Options mah={320} className={styles.options ?? ''} aria-label={field.label}>
            <Options
              groups={known ? choicesFrom(known) : [{ group: 'Roles', choices: ROLE_CHOICES }]}
              text={text}
              chosen={values}
            />
            {typed !== null && !values.includes(typed) && (
              <Combobox.Option value={TYPED}>Add “{text.trim()}”</Combobox.Option>
            )}
          </Combobox.Options>
        </Combobox.Dropdown>
      )}
    </Combobox>
  )
}

function Options({
  groups,
  text,
  chosen,
}: {
  groups: ReturnType<typeof choicesFrom>
  text: string
  chosen: readonly string[]
}) {
  const { entries } = useScope()
  const values = findEntries(entries.filter(fits), text.replace(/^\$\{?|\}$/g, ''))
    .filter(({ name }) => !chosen.includes(assigneeIn(name)))
    .slice(0, MAX_VALUES)
  return (
    <>
      {groups.map(({ group, choices }) => {
        const found = choicesWith(choices, text, chosen).slice(0, MAX_SHOWN)
        return (
          found.length > 0 && (
            <Combobox.Group key={group} label={group}>
              {found.map(({ value, label, about }) => (
                <Combobox.Option key={value} value={value} className={styles.option ?? ''}>
                  {label}
                  {about !== null && about !== label && <span className={styles.about}>{about}</span>}
                </Combobox.Option>
              ))}
            </Combobox.Group>
          )
        )
      })}
      {values.length > 0 && (
        <Combobox.Group label="The address in a value of the run">
          {values.map((entry) => (
            <Combobox.Option key={entry.name} value={assigneeIn(entry.name)}>
              <ScopeEntryLine entry={entry} />
            </Combobox.Option>
          ))}
        </Combobox.Group>
      )}
    </>
  )
}

function Chip({
  value,
  label,
  wrong,
  onRemove,
}: {
  value: string
  label: string
  wrong: boolean
  onRemove: (() => void) | null
}) {
  return (
    <Pill
      withRemoveButton={onRemove !== null}
      {...(onRemove ? { onRemove } : {})}
      title={value.replace(/^user:/, '')}
      className={wrong ? (styles.wrong ?? '') : ''}
      removeButtonProps={{ 'aria-label': `Remove ${label}` }}
    >
      {wrong && <TriangleAlert size={12} aria-label="Warning: " className={styles.mark} />}
      {label}
    </Pill>
  )
}

const assigneeIn = (name: string) => `user:\${${name}}`

/** A text may hold an address. */
function fits({ type, only }: ScopeEntry): boolean {
  return only === undefined && (type === 'string' || type === 'any')
}

/** Whether a text can be taken when the field loses the focus. */
function isWhole(text: string): boolean {
  return /\S@\S|^\$\{.+\}$|^(user|group|role):/.test(text.trim())
}
