import { Inline } from '@/app/_ui/prose'
import type { Schema } from '@/server/openapi/types'
import styles from './reference.module.css'

/** A schema's fields as a list. A named schema links to its own section. */
export function SchemaTree({ schema, anchor }: { schema: Schema; anchor: string }) {
  if (schema.oneOf && !schema.properties) {
    return (
      <ul className={styles.variants}>
        {schema.oneOf.map((variant, place) => {
          const name = variant.$ref ?? variantName(variant)
          if (variant.$ref)
            return (
              <li key={name}>
                <p className={styles.variant}>
                  {place === 0 ? 'Either' : 'Or'} <Type schema={variant} />
                </p>
              </li>
            )
          return (
            <li key={name}>
              <p className={styles.variant}>
                {place === 0 ? 'Either' : 'Or'} <code>{name}</code>
              </p>
              <Fields schema={variant} anchor={anchor} suffix={place === 0 ? '' : `-${name.replace(/\W+/g, '')}`} />
            </li>
          )
        })}
      </ul>
    )
  }
  if (schema.properties) return <Fields schema={schema} anchor={anchor} suffix="" />
  return (
    <p className={styles.type}>
      <Type schema={schema} />
    </p>
  )
}

/** Variants differ in one field with a fixed value. */
function variantName({ properties = {} }: Schema): string {
  const [name, value] = Object.entries(properties).find(([, field]) => field.const !== undefined) ?? []
  return name === undefined ? 'object' : `${name}: ${JSON.stringify(value?.const)}`
}

function Fields({ schema, anchor, suffix }: { schema: Schema; anchor: string; suffix: string }) {
  const { properties = {}, required = [] } = schema
  return (
    <ul className={styles.fields}>
      {Object.entries(properties).map(([name, field]) => {
        const id = `${anchor}.${name}${suffix}`
        const nested = nestedOf(field)
        return (
          <li key={name} id={id} className={styles.field}>
            <a href={`#${id}`} className={styles.fieldName}>
              {name}
            </a>{' '}
            <span className={styles.type}>
              <Type schema={field} />
            </span>
            {required.includes(name) ? <span className={styles.required}> required</span> : null}
            {field.description ? (
              <p className={styles.note}>
                <Inline text={field.description} />
              </p>
            ) : null}
            <Limits schema={field} />
            {nested ? <SchemaTree schema={nested} anchor={id} /> : null}
          </li>
        )
      })}
    </ul>
  )
}

/** The nested schema of a field whose fields are listed below it. */
function nestedOf(field: Schema): Schema | undefined {
  if (field.properties || field.oneOf) return field
  const inner = field.items ?? (typeof field.additionalProperties === 'object' ? field.additionalProperties : undefined)
  return inner && (inner.properties || inner.oneOf) ? inner : undefined
}

export function Type({ schema }: { schema: Schema }) {
  const { $ref, type, items, additionalProperties, anyOf, format } = schema
  if ($ref) {
    const name = $ref.split('/').at(-1)
    return <a href={`#schema-${name}`}>{name}</a>
  }
  if (anyOf) {
    return anyOf.map((choice, place) => (
      <span key={JSON.stringify(choice)}>
        {place > 0 ? ' or ' : ''}
        <Type schema={choice} />
      </span>
    ))
  }
  if (schema.const !== undefined) return <code>{JSON.stringify(schema.const)}</code>
  if (items) {
    return (
      <>
        array of <Type schema={items} />
      </>
    )
  }
  if (typeof additionalProperties === 'object') {
    return (
      <>
        map of name to <Type schema={additionalProperties} />
      </>
    )
  }
  const names = type === undefined ? ['any JSON'] : [type].flat()
  return `${names.join(' or ')}${format ? ` (${format})` : ''}`
}

/** A value's further limits, in one line. */
function Limits({ schema }: { schema: Schema }) {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, pattern, default: preset } = schema
  const between = (what: string, min?: number, max?: number) => {
    if (min === undefined && max === undefined) return []
    if (max === undefined) return [`at least ${min}${what}`]
    return [min === undefined || min === 0 ? `at most ${max}${what}` : `${min} to ${max}${what}`]
  }
  const limits = [
    ...between('', minimum, maximum),
    ...between(' characters', minLength, maxLength),
    ...between(' entries', minItems, maxItems),
    ...(pattern ? [`matches \`${pattern}\``] : []),
    ...(preset === undefined ? [] : [`default \`${JSON.stringify(preset)}\``]),
  ]
  const values = schema.enum?.map((value) => `\`${value === null ? 'null' : value}\``).join(', ')
  const text = [...(values ? [`one of ${values}`] : []), ...limits].join('; ')
  return text === '' ? null : (
    <p className={styles.limits}>
      <Inline text={text} />
    </p>
  )
}
