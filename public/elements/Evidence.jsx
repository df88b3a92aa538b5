import { Fragment, useEffect, useState } from 'react';
import { ChevronDown, ChevronRight, FileCode2 } from 'lucide-react';

function Pieces({ pieces }) {
  return <pre>{pieces.map(([kind, text], at) => (kind ? <span key={at} className={`rp-t${kind}`}>{text}</span> : text))}{pieces.length ? '' : ' '}</pre>;
}

function Lines({ lines, cut, open }) {
  const follows = (number, at) => at === 0 || lines[at - 1][0] === number - 1;
  return (
    <div className="rp-code-scroll rp-search-lines" tabIndex={0}>
      <table>
        <tbody>
          {lines.map(([number, pieces, focus], at) => (
            <Fragment key={number}>
              {!follows(number, at) && <tr className="rp-gap"><td className="rp-line-number">⋯</td><td /></tr>}
              <tr data-line={number} className={focus ? 'rp-cited' : ''}>
                <td className="rp-line-number"><button tabIndex={-1} onClick={() => open(number)}>{number}</button></td>
                <td><Pieces pieces={pieces} /></td>
              </tr>
            </Fragment>
          ))}
          {cut && <tr className="rp-gap"><td className="rp-line-number">⋯</td><td /></tr>}
        </tbody>
      </table>
    </div>
  );
}

function Place({ place, show, first }) {
  const [open, setOpen] = useState(first);
  return (
    <li className="rp-found" data-number={place.number}>
      <div className="rp-row rp-tight">
        <button className="rp-found-head" aria-expanded={open} disabled={!place.lines.length} onClick={() => setOpen(!open)}>
          {place.lines.length > 0 && (open ? <ChevronDown size={14} /> : <ChevronRight size={14} />)}
          <span className="rp-source-number">{place.number}</span>
          <strong className="rp-place rp-found-title">{place.title}</strong>
        </button>
        <span className="rp-muted rp-detail rp-grow rp-one-line">{place.summary}</span>
        <button className="rp-source" aria-label={place.open} title={place.open} onClick={() => show(place.number)}>
          <FileCode2 size={13} /><span className="rp-place">{place.place}</span>
        </button>
      </div>
      {open && place.lines.length > 0 && <Lines lines={place.lines} cut={place.cut} open={(line) => show(place.number, line)} />}
    </li>
  );
}

// Chainlit evaluates this file again at every update. The component is kept in `window`, so that React sees the same
// one and what the user unfolded stays. All words come from the catalogue, in `props.words`.
const Evidence = (window.repopilotEvidence ||= function ({ props, callAction }) {
  const [failed, setFailed] = useState('');
  const show = async (number, line = null) => {
    const result = await callAction({ name: 'show_citation', payload: { answer: props.answer, number, line } });
    setFailed(result?.response?.error || (result?.success ? '' : props.words.no_answer));
  };
  // Hovering the number of a citation shows its lines.
  useEffect(() => {
    for (const place of [...props.shown, ...props.folded]) {
      const text = place.lines.map(([number, pieces]) => `${number}  ${pieces.map((piece) => piece[1]).join('')}`).join('\n');
      for (const link of document.querySelectorAll(`a[href="#cite-${props.answer}-${place.number}"]`)) link.title = `${place.place}\n\n${text}`;
    }
  });
  return (
    <section className="rp-evidence rp-code" aria-label={props.words.title}>
      <strong>{props.words.title}</strong>
      <ol className="rp-found-list">
        {props.shown.map((place, at) => <Place key={`${place.number} ${at < props.unfolded} ${place.place}`} place={place} show={show} first={at < props.unfolded} />)}
      </ol>
      {props.more && (
        <details className="rp-why">
          <summary>{props.more}</summary>
          <ol className="rp-found-list">
            {props.folded.map((place) => <Place key={place.number} place={place} show={show} first={false} />)}
          </ol>
        </details>
      )}
      {failed && <div className="rp-error">{failed}</div>}
    </section>
  );
});

export default <Evidence props={props} callAction={callAction} />;
