import { useState } from 'react';
import { ClipboardCopy, Download, RotateCcw } from 'lucide-react';

function Copy({ text, label }) {
  return <button className="rp-icon-button" aria-label={label} title={label} onClick={() => navigator.clipboard.writeText(text)}><ClipboardCopy size={12} /></button>;
}

function Text({ title, text, words }) {
  if (!text) return null;
  return (
    <div className="rp-trace-text">
      <div className="rp-row rp-tight"><span className="rp-muted rp-grow">{title}</span><Copy text={text} label={`${words.copy}: ${title}`} /></div>
      <pre tabIndex={0}>{text}</pre>
    </div>
  );
}

function Table({ table }) {
  const bars = table.bars.some((bar) => bar !== null);
  return (
    <div className="rp-scroll" tabIndex={0}>
      <table>
        <thead><tr>{bars && <th />}{table.columns.map((column) => <th key={column}>{column}</th>)}</tr></thead>
        <tbody>
          {table.rows.map((row, at) => (
            <tr key={at}>
              {bars && <td><span className="rp-bar"><span style={{ width: `${Math.round((table.bars[at] || 0) * 100)}%` }} /></span></td>}
              {row.map((cell, column) => <td key={column} title={cell}>{cell}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Tests({ tests: [passed, failed], words }) {
  const total = passed + failed || 1;
  const said = words.tests.replace('{passed}', passed).replace('{failed}', failed);
  return (
    <span className="rp-tests" role="img" aria-label={said} title={said}>
      <span className="rp-tests-passed" style={{ width: `${(passed / total) * 100}%` }} />
      <span className="rp-tests-failed" style={{ width: `${(failed / total) * 100}%` }} />
    </span>
  );
}

/** Like a call: `rename_symbol name=a new_name=b`, with its result in the row. */
function Call({ step, words }) {
  return (
    <div className="rp-call">
      {step.arguments.map(([name, value]) => <div key={name}><span className="rp-muted">{name}</span> <code>{value}</code></div>)}
      <Text title={words.result} text={step.output} words={words} />
    </div>
  );
}

function Body({ step, words }) {
  return (
    <div className="rp-trace-body">
      {step.error && <div className="rp-error">{step.error}</div>}
      {step.notes.map((note) => <div key={note} className="rp-warn">⚠ {note}</div>)}
      {step.arguments.length > 0 ? <Call step={step} words={words} /> : (
        <>
          <Text title={words.input} text={step.input} words={words} />
          <Text title={words.output} text={step.output} words={words} />
        </>
      )}
      {step.single.length > 0 && <dl>{step.single.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>}
      {step.tables.map((table, at) => <Table key={at} table={table} />)}
      {step.children.length > 0 && <Steps steps={step.children} words={words} columns={step.columns} />}
    </div>
  );
}

// What is folded is not drawn: a trace may have thousands of steps.
function Step({ step, words, opened }) {
  const [open, setOpen] = useState(opened);
  const first = step.arguments.map(([name, value]) => `${name}=${value}`).join(' ');
  return (
    <li className={`rp-trace-${step.state}`}>
      <button className="rp-trace-head" aria-expanded={open} onClick={() => setOpen(!open)}>
        <span className="rp-fold-mark">{open ? '▾' : '▸'}</span> <strong>{step.title}</strong>
        {first && <code className="rp-trace-arguments">{first}</code>}
        <span className="rp-muted rp-grow">{step.facts}</span>
        {step.tests && <Tests tests={step.tests} words={words} />}
      </button>
      {open && <Body step={step} words={words} />}
    </li>
  );
}

function Steps({ steps, words, columns, opened }) {
  const [most, setMost] = useState(100);
  return (
    <ul className={columns ? 'rp-trace rp-trace-columns' : 'rp-trace'}>
      {steps.slice(0, most).map((step, at) => <Step key={at} step={step} words={words} opened={opened || columns} />)}
      {most < steps.length && <li><button className="rp-button" onClick={() => setMost(most + 500)}>{words.more.replace('{count}', steps.length - most)}</button></li>}
    </ul>
  );
}

function Compared({ props }) {
  const { words } = props;
  return (
    <div className="rp-scroll rp-compared" tabIndex={0}>
      <table>
        <thead><tr><th>{words.step}</th><th>{props.question}<br />{props.facts}</th><th>{props.other.question}<br />{props.other.facts}</th></tr></thead>
        <tbody>
          {props.compared.map((row, at) => (
            <tr key={at}><td style={{ paddingLeft: `${row.depth * 0.8 + 0.4}rem` }}>{row.title}</td><td>{row.left || '–'}</td><td>{row.right || '–'}</td></tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

// Chainlit evaluates this file again at every update. The component is kept in `window`, so that React sees the same
// one and what the user unfolded stays. All words come from the catalogue, in `props.words`.
const Trace = (window.repopilotTrace ||= function ({ props, callAction, sendUserMessage }) {
  const { words } = props;
  const [failed, setFailed] = useState('');
  const call = async (name, payload) => {
    const result = await callAction({ name, payload: { answer: props.answer, ...payload } });
    setFailed(result?.response?.error || (result?.success ? '' : words.no_answer));
    return result?.response;
  };
  const save = async () => {
    const file = await call('download', { form: 'steps' });
    if (file?.base64) window.repopilotSave(file);
  };
  return (
    <section className="rp-code rp-trace-panel" role="region" aria-label={words.title}>
      <div className="rp-code-head">
        <strong>{props.question || words.title}</strong>
        <span className="rp-muted">{props.facts}</span>
        <span className="rp-muted">{words.request} <code>{props.request}</code></span>
        <div className="rp-row rp-tight">
          <button className="rp-button" onClick={save}><Download size={13} /> {words.json}</button>
          <button className="rp-button" onClick={() => sendUserMessage(props.question, props.command || undefined)}><RotateCcw size={13} /> {words.again}</button>
          {props.others.length > 0 && (
            <select className="rp-input" aria-label={words.compare} value="" onChange={(event) => call('show_trace', { other: event.target.value })}>
              <option value="">{words.compare}</option>
              {props.others.map(([id, question]) => <option key={id} value={id}>{question}</option>)}
            </select>
          )}
        </div>
      </div>
      {failed && <div className="rp-error">{failed}</div>}
      {props.other && <Compared props={props} />}
      {!props.other && <div className="rp-code-scroll"><Steps key={props.answer} steps={props.steps} words={words} opened={true} /></div>}
    </section>
  );
});

export default <Trace props={props} callAction={callAction} sendUserMessage={sendUserMessage} />;
