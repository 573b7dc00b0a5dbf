import { PublicHeader } from '@/app/_ui/public-header'
import type { OpenApiDocument } from '@/server/openapi/types'
import { Method } from './method'
import styles from './navigation.module.css'

/** Next to the text on wide screens, collapsed above it on phones. */
export function Navigation({ document }: { document: OpenApiDocument }) {
  return (
    <>
      <a href="#reference" className={styles.skip}>
        Skip to the reference
      </a>
      <PublicHeader />
      <details className={styles.menu}>
        <summary>Contents</summary>
        <Links document={document} label="Contents" />
      </details>
      <div className={styles.side}>
        <Links document={document} label="Operations" />
      </div>
    </>
  )
}

export function operationsOf(document: OpenApiDocument, tag: string) {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.tags.includes(tag))
      .map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
}

function Links({ document, label }: { document: OpenApiDocument; label: string }) {
  return (
    <nav aria-label={label} className={styles.nav}>
      {document.tags.map(({ name }) => (
        <div key={name}>
          <p className={styles.group}>
            <a href={`#tag-${name}`} className={styles.groupLink}>
              {name}
            </a>
          </p>
          <ul>
            {operationsOf(document, name).map(({ method, operation }) => (
              <li key={operation.operationId}>
                <a href={`#${operation.operationId}`} className={styles.entry}>
                  <Method name={method} /> {operation.summary}
                </a>
              </li>
            ))}
          </ul>
        </div>
      ))}
      <p className={styles.group}>
        <a href="#errors" className={styles.groupLink}>
          Errors
        </a>
      </p>
      <p className={styles.group}>
        <a href="#schemas" className={styles.groupLink}>
          Schemas
        </a>
      </p>
    </nav>
  )
}
