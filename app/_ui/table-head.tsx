/** The head of a table: the names of its columns and, if its rows have a menu, a column that only screen readers name. */
export function TableHead({ columns, menu = true }: { columns: readonly string[]; menu?: boolean }) {
  return (
    <thead>
      <tr>
        {columns.map((column) => (
          <th scope="col" key={column}>
            {column}
          </th>
        ))}
        {menu && (
          <th scope="col">
            <span className="visually-hidden">Actions</span>
          </th>
        )}
      </tr>
    </thead>
  )
}
