import { useState } from 'react';

// A row is a line of Markdown with code, emphasis, what is struck out, and the numbers of citations.
const MARKS = /(`[^`]+`|\*\*(?:`[^`]*`|[^`*])+\*\*|~~(?:`[^`]*`|[^`])+?~~|\*(?:`[^`]*`|[^`*])+\*|\[\d+\])/;

function Inline({ text, show }) {
  return text.split(MARKS).map((part, at) => {
    const inside = (length) => <Inline text={part.slice(length, -length)} show={show} />;
    if (/^`.+`$/.test(part)) return <code key={at}>{part.slice(1, -1)}</code>;
    if (/^\*\*.+\*\*$/.test(part)) return <strong key={at}>{inside(2)}</strong>;
    if (/^~~.+~~$/.test(part)) return <del key={at}>{inside(2)}</del>;
    if (/^\*.+\*$/.test(part)) return <em key={at}>{inside(1)}</em>;
    if (/^\[\d+\]$/.test(part)) return <button key={at} className="rp-source-number" onClick={() => show(Number(part.slice(1, -1)))}>{part.slice(1, -1)}</button>;
    return part;
  });
}

// Chainlit evaluates this file again at every update. The component is kept in `window`, so that React sees the same
// one and what the user unfolded stays. All words come from the catalogue, in `props`.
const Folds = (window.repopilotFolds ||= function ({ props, callAction }) {
  const [failed, setFailed] = useState('');
  const show = async (number) => {
    const result = await callAction({ name: 'show_citation', payload: { answer: props.answer, number } });
    setFailed(result?.response?.error || (result?.success ? '' : props.words.no_answer));
  };
  return (
    <section className="rp-folds rp-code">
      {props.folds.map((fold) => (
        <details key={fold.title} open={fold.open}>
          <summary>{fold.title} <span className="rp-muted rp-number">{fold.count ?? fold.rows.length}</span></summary>
          <ul>{fold.rows.map((row, at) => <li key={at}><Inline text={row} show={show} /></li>)}</ul>
        </details>
      ))}
      {props.note && <div className="rp-muted rp-note"><Inline text={props.note} show={show} /></div>}
      {failed && <div className="rp-error">{failed}</div>}
    </section>
  );
});

export default <Folds props={props} callAction={callAction} />;
