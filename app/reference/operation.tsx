import type { ReactNode } from 'react'
import { Inline, Prose } from '@/app/_ui/prose'
import type { JsonValue } from '@/server/definition/json'
import type {
  DocumentedOperation,
  DocumentedResponse,
  OpenApiDocument,
  Parameter,
  Schema,
} from '@/server/openapi/types'
import { Method } from './method'
import styles from './reference.module.css'
import { curlFormSample, curlSample, isParameter, sampleCall, typescriptSample } from './samples'
import { SchemaTree, Type } from './schema-tree'

interface Props {
  document: OpenApiDocument
  method: string
  path: string
  operation: DocumentedOperation
  /** Links to an error's explanation; by default, further down the page. */
  errorAt?: (code: string) => string
  /** Below the description. */
  children?: ReactNode
}

export function OperationPart(props: Props) {
  const { document, method, path, operation, errorAt = (code) => `#error-${code}`, children } = props
  const { operationId: id, requestBody } = operation
  const json = requestBody?.content['application/json']
  const form = requestBody?.content['multipart/form-data']
  const bytes = requestBody?.content['application/octet-stream']
  const call = sampleCall(document, method, path, operation)
  return (
    <section id={id} aria-labelledby={`${id}-title`} className={styles.operation}>
      <div className={styles.text}>
        <h3 id={`${id}-title`} className={styles.title}>
          <a href={`#${id}`} className={styles.titleLink}>
            {operation.summary}
          </a>
        </h3>
        <p className={styles.route}>
          <Method name={method} /> <code>{path}</code>
        </p>
        <Prose text={operation.description} className={styles.prose} />
        {children}
        <Parameters document={document} operation={operation} />
        {json ? (
          <>
            <h4 className={styles.part}>Body{requestBody?.required ? '' : ' (optional)'}</h4>
            <Body document={document} schema={json.schema} anchor={id} />
          </>
        ) : null}
        {form ? (
          <>
            <h4 className={styles.part}>Or a form (multipart/form-data)</h4>
            <Prose text={form.schema.description ?? ''} className={styles.note} />
            <SchemaTree schema={form.schema} anchor={`${id}.form`} />
          </>
        ) : null}
        {bytes ? (
          <>
            <h4 className={styles.part}>Body (bytes)</h4>
            <Prose text={bytes.schema.description ?? ''} className={styles.note} />
          </>
        ) : null}
        <h4 className={styles.part}>Responses</h4>
        <dl className={styles.answers}>
          {Object.entries(operation.responses).map(([status, response]) => (
            <Answer key={status} status={status} response={response} errorAt={errorAt} />
          ))}
        </dl>
      </div>
      <div className={styles.code}>
        <Sample title="curl" text={curlSample(call)} />
        {form ? <Sample title="curl, with a file" text={curlFormSample(call)} /> : null}
        <Sample title="TypeScript" text={typescriptSample(call)} />
        <Examples operation={operation} />
      </div>
    </section>
  )
}

function Body({ document, schema, anchor }: { document: OpenApiDocument; schema: Schema; anchor: string }) {
  const shown = document.components.schemas[schema.$ref?.split('/').at(-1) ?? ''] ?? schema
  return (
    <>
      {shown.description ? <Prose text={shown.description} className={styles.note} /> : null}
      <SchemaTree schema={shown} anchor={anchor} />
    </>
  )
}

function Parameters({ document, operation }: Pick<Props, 'document' | 'operation'>) {
  const parameters = operation.parameters.flatMap((it): Parameter[] => {
    if (isParameter(it)) return [it]
    const shared = document.components.parameters[it.$ref.split('/').at(-1) ?? '']
    return shared && shared.name !== 'X-Request-Id' ? [shared] : []
  })
  if (parameters.length === 0) return null
  return (
    <>
      <h4 className={styles.part}>Parameters</h4>
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">In</th>
            <th scope="col">Meaning</th>
          </tr>
        </thead>
        <tbody>
          {parameters.map((parameter) => (
            <tr key={parameter.name} id={`${operation.operationId}.${parameter.in}.${parameter.name}`}>
              <th scope="row">
                <code>{parameter.name}</code>
                {parameter.required ? <span className={styles.required}> required</span> : null}
              </th>
              <td>{parameter.in}</td>
              <td>
                <Inline text={parameter.description} />{' '}
                <span className={styles.type}>
                  <Type schema={parameter.schema} />
                  {range(parameter)}
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}

function range({ schema }: Parameter): string {
  if (schema.enum) return `: ${schema.enum.join(', ')}`
  if (schema.maximum === undefined) return ''
  return `, ${schema.minimum ?? 0} to ${schema.maximum}`
}

function Answer(props: { status: string; response: DocumentedResponse; errorAt: (code: string) => string }) {
  const { status, response, errorAt } = props
  const [media] = Object.entries(response.content ?? {})
  const error = Number(status) >= 400 && '$ref' in (Object.values(media?.[1].examples ?? {})[0] ?? {})
  return (
    <div className={styles.answer}>
      <dt>
        <span className={error ? styles.bad : styles.good}>{status}</span>
      </dt>
      <dd>
        {error && media?.[1].examples ? (
          Object.keys(media[1].examples).map((code) => (
            <a key={code} href={errorAt(code)} className={styles.errorCode}>
              {code}
            </a>
          ))
        ) : (
          <Inline text={response.description} />
        )}{' '}
        {media && !error ? (
          <span className={styles.type}>
            {media[0] === 'application/json' ? '' : `${media[0]}: `}
            <Type schema={media[1].schema} />
          </span>
        ) : null}
      </dd>
    </div>
  )
}

/** Only examples of successful responses: errors share one shape and have their own section. */
function Examples({ operation }: { operation: DocumentedOperation }) {
  const all = Object.entries(operation.responses).flatMap(([status, { content = {} }]) =>
    Object.values(content).flatMap((media) =>
      Object.values(media.examples ?? {}).flatMap((example) => ('value' in example ? [{ status, example }] : [])),
    ),
  )
  return all.map(({ status, example }, place) => (
    <ExampleBody
      key={`${status} ${example.summary}`}
      title={`${status} ${example.summary}`}
      value={example.value}
      open={place === 0}
    />
  ))
}

export function ExampleBody({ title, value, open }: { title: string; value: JsonValue; open?: boolean }) {
  return (
    <details className={styles.example} open={open}>
      <summary>{title}</summary>
      <pre className={styles.pre}>{typeof value === 'string' ? value : JSON.stringify(value, null, 2)}</pre>
    </details>
  )
}

function Sample({ title, text }: { title: string; text: string }) {
  return (
    <figure className={styles.sample}>
      <figcaption>{title}</figcaption>
      <pre className={styles.pre}>{text}</pre>
    </figure>
  )
}
