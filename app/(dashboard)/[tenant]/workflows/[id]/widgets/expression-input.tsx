'use client'
import { ActionIcon, Combobox, Textarea, TextInput, Tooltip, useCombobox } from '@mantine/core'
import { Braces } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import type { FieldType } from '@/server/definition/schema'
import { byFit, suits } from '../../../_arguments/matches'
import { useCommitted } from '../draft/use-committed'
import styles from './expression-input.module.css'
import { Gives } from './gives'
import { type ScopeEntry, useScope } from './scope-context'
import { ScopeEntryLine } from './scope-entry'
import { afterPath, findEntries, openedAt } from './scope-search'

interface Props {
  id?: string
  /** The field's name; without a `label`, only screen readers get it. */
  name: string
  label?: ReactNode
  description?: ReactNode
  placeholder?: string | undefined
  withAsterisk?: boolean
  error?: ReactNode
  value: string
  onChange: (value: string) => void
  multiline?: boolean
  /** Holds an expression: not prose, so no spell check. */
  code?: boolean
  /** The step's field, which may add names of its own. */
  of?: string
  /** The type to suggest first. */
  wanted?: FieldType
  /** A chosen value replaces the text. */
  replaces?: boolean
  readOnly: boolean
}

/**
 * Text with `${…}`, stored exactly as typed. The list of names opens after `${`, with Ctrl+Space and with the button.
 */
export function ExpressionInput(props: Props) {
  const { value, onChange, multiline = false, code = false, replaces = false, readOnly, name, label, wanted } = props
  const scope = useScope()
  const { text, setText, flush } = useCommitted(value, onChange)
  const field = useRef<HTMLInputElement & HTMLTextAreaElement>(null)
  const caret = useRef<number | null>(null)
  const [search, setSearch] = useState('')
  const combobox = useCombobox({ onDropdownClose: () => combobox.resetSelectedOption() })
  const all = scope.entries.filter(({ only }) => only === undefined || only === props.of)
  const entries = search === '' ? all.filter(({ repeats }) => !repeats) : all
  const offers = wanted === undefined ? entries : byFit(entries, wanted)
  const options = findEntries(offers, search).slice(0, 50)
  const [first] = options
  // Values that may be missing or do not fit must be chosen explicitly.
  const sure = first !== undefined && !first.maybe && (wanted === undefined || suits(first.type, wanted) < 2)

  // biome-ignore lint/correctness/useExhaustiveDependencies: the first match is marked whenever the list changes
  useEffect(() => {
    if (!combobox.dropdownOpened) return
    if (search !== '' || sure) combobox.selectFirstOption()
    else combobox.resetSelectedOption()
  }, [search, sure, combobox.dropdownOpened])

  // Leaves the caret after the inserted text; React would move it to the end.
  useEffect(() => {
    if (caret.current === null) return
    field.current?.setSelectionRange(caret.current, caret.current)
    caret.current = null
  })

  function insert(entry: string) {
    if (replaces) {
      const whole = `\${${entry}}`
      caret.current = whole.length
      setText(whole)
      combobox.closeDropdown()
      field.current?.focus()
      return
    }
    // The field may have been typed into since it handed out this function.
    const now = field.current?.value ?? text
    const at = field.current?.selectionStart ?? now.length
    const started = openedAt(now, at)
    const from = started ?? at
    const rest = started === null ? now.slice(at) : afterPath(now.slice(at))
    const inserted = `\${${entry}}`
    caret.current = from + inserted.length
    setText(now.slice(0, from) + inserted + rest)
    combobox.closeDropdown()
    field.current?.focus()
  }

  function updateSuggestions(next: string, at: number) {
    const started = openedAt(next, at)
    if (started === null) combobox.closeDropdown()
    else {
      setSearch(next.slice(started + 2, at))
      combobox.openDropdown()
    }
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.key === ' ' && (event.ctrlKey || event.metaKey) && !readOnly) {
      event.preventDefault()
      openAll()
    } else if (event.key === 'Tab' && combobox.dropdownOpened) combobox.closeDropdown()
    // Escape closes only the list, not the sheet around it.
    else if (event.key === 'Escape' && combobox.dropdownOpened) {
      event.stopPropagation()
      event.nativeEvent.stopImmediatePropagation()
      combobox.closeDropdown()
    }
  }

  function openAll() {
    const at = field.current?.selectionStart ?? text.length
    const started = openedAt(text, at)
    setSearch(started === null ? '' : text.slice(started + 2, at))
    combobox.openDropdown()
  }

  const shared = {
    ...(props.id === undefined ? {} : { id: props.id }),
    label,
    description: props.description,
    placeholder: props.placeholder,
    withAsterisk: props.withAsterisk ?? false,
    error: props.error,
    readOnly,
    'aria-label': label ? undefined : name,
    'aria-autocomplete': 'list' as const,
    ref: field,
    value: text,
    inputContainer: (input: ReactNode) => (
      <>
        {input}
        <Gives text={text} code={code} />
      </>
    ),
    spellCheck: multiline && !code,
    classNames: { input: styles.input ?? '' },
    onKeyDown,
    onBlur: () => {
      combobox.closeDropdown()
      flush()
    },
    onFocus: () => {
      scope.target.current = { insert }
    },
    rightSectionPointerEvents: 'all' as const,
    rightSection: readOnly ? null : (
      <Tooltip label="Insert a value (Ctrl+Space)">
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={`Insert a value into ${name}`}
          // Leaves the caret in the field.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => {
            field.current?.focus()
            openAll()
          }}
        >
          <Braces size={16} aria-hidden />
        </ActionIcon>
      </Tooltip>
    ),
  }
  const onInput = (element: HTMLInputElement | HTMLTextAreaElement) => {
    setText(element.value)
    updateSuggestions(element.value, element.selectionStart ?? element.value.length)
  }

  return (
    <Combobox store={combobox} onOptionSubmit={insert} position="bottom-start" width={340} shadow="md" withinPortal>
      <Combobox.Target withKeyboardNavigation={combobox.dropdownOpened}>
        {multiline ? (
          <Textarea
            {...shared}
            autosize
            minRows={2}
            maxRows={12}
            rightSectionProps={{ className: styles.top ?? '' }}
            onChange={(event) => onInput(event.currentTarget)}
          />
        ) : (
          <TextInput {...shared} onChange={(event) => onInput(event.currentTarget)} />
        )}
      </Combobox.Target>
      <Combobox.Dropdown>
        <Combobox.Options mah={280} className={styles.options ?? ''} aria-label={`Values for ${name}`}>
          {groupsOf(options, wanted).map(({ label: group, entries }) => {
            const lines = entries.map((entry) => (
              <Combobox.Option key={entry.name} value={entry.name}>
                <ScopeEntryLine entry={entry} />
              </Combobox.Option>
            ))
            return group === null ? (
              lines
            ) : (
              <Combobox.Group key={group} label={group}>
                {lines}
              </Combobox.Group>
            )
          })}
          {options.length === 0 && (
            <Combobox.Empty>
              {scope.open ? 'No known name matches, but an earlier step may still add it.' : 'No name matches.'}
            </Combobox.Empty>
          )}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  )
}

/** Groups entries that fit the type apart from others. Without a type, or if nothing fits, a single list. */
function groupsOf(options: readonly ScopeEntry[], wanted: FieldType | undefined) {
  const fitting = wanted === undefined ? [] : options.filter(({ type }) => suits(type, wanted) < 2)
  if (fitting.length === 0 || fitting.length === options.length) return [{ label: null, entries: options }]
  const others = options.filter((entry) => !fitting.includes(entry))
  return [
    { label: `Fits ${wanted}`, entries: fitting },
    { label: 'Other types', entries: others },
  ]
}
