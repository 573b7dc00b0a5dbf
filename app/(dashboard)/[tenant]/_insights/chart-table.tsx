/** A chart's figures for people who cannot see it. */
export function ChartTable(props: { caption: string; columns: string[]; rows: string[][] }) {
  const { caption, columns, rows } = props
  return (
    <div className="visually-hidden">
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([day = '', ...cells]) => (
            <tr key={day}>
              <th scope="row">{day}</th>
              {cells.map((cell, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a cell is known by its column
                <td key={index}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
