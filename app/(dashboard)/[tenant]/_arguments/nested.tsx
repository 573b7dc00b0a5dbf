'use client'
import { Button, Group, Select } from '@mantine/core'
import { Braces } from 'lucide-react'
import type { ReactNode } from 'react'
import { problemOf, RowLabel, type RowProps } from './argument-field'
import styles from './arguments.module.css'
import { byFit, suits } from './matches'
import { wantedType } from './shape'
import { useFormMeans } from './texts'

/** A value with rows of its own. One value of the run can replace all of them. */
export function Nested({ children, ...props }: RowProps & { children: ReactNode }) {
  const error = problemOf(props)
  const { name, path, shape, required, value, onChange, readOnly, idOf } = props
  const { offers } = useFormMeans()
  const wanted = wantedType(shape)
  const suitable = byFit(offers ?? [], wanted).filter((offer) => suits(offer.type, wanted) < 2)
  return (
    <fieldset className={styles.nested} id={idOf(path)} aria-describedby={error ? `${idOf(path)}-error` : undefined}>
      <legend className={styles.legend}>
        <RowLabel name={name} words={shape.words} />
        {required && (
          <span className={styles.star} aria-hidden>
            {' *'}
          </span>
        )}
      </legend>
      {shape.description !== '' && <div className={styles.about}>{shape.description}</div>}
      {children}
      {!readOnly && (
        <Group gap="xs" wrap="nowrap">
          {suitable.length > 0 && (
            <Select
              size="xs"
              flex={1}
              aria-label={`Use one value for ${name}`}
              placeholder={`Use one value for ${name}`}
              leftSection={<Braces size={14} aria-hidden />}
              data={suitable.map((offer) => ({
                value: offer.name,
                label: `\${${offer.name}} ${offer.type}${offer.maybe ? ', may be missing' : ''}`,
              }))}
              value={null}
              searchable
              nothingFoundMessage="Nothing matches"
              onChange={(next) => next !== null && onChange(`\${${next}}`)}
            />
          )}
          {value !== undefined && !props.lasting && (
            <Button variant="subtle" size="compact-xs" aria-label={`Clear ${name}`} onClick={() => onChange(undefined)}>
              Clear
            </Button>
          )}
        </Group>
      )}
      {error && (
        <div className={styles.error} id={`${idOf(path)}-error`}>
          {error}
        </div>
      )}
    </fieldset>
  )
}
